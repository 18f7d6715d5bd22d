import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import type { WakeTest } from '../wake-test/run-wake-test.ts'
import { fields, table } from './table.ts'
import { when } from './when.ts'

/** The proofs of a test of waking, for people. */
export function wakeTestText(io: Io, { agent, messageId, session, message, routes }: WakeTest): string {
  const summary = fields({
    agent,
    message: messageId,
    session: session ? `${session.surface}, ${session.presence}` : 'none',
    proved: message.receipt + after(message.afterMs),
    by: message.deliveryMethod === null ? undefined : ways[message.deliveryMethod],
    wake: message.wake && wakeText(io, message.wake),
  })
  if (routes === null) return `${summary}Its subscriptions are not visible with this key.\n`
  const rows = routes.map(({ route, subscriptionId, step, source, at, afterMs, detail }) => [
    route,
    subscriptionId,
    step ?? 'nothing',
    source ? plain(source) : undefined,
    at === undefined ? undefined : when(io, at),
    afterMs === null ? undefined : `${afterMs} ms`,
    plain(detail),
  ])
  const none =
    'Nothing wakes it: no subscription to SENT_TO_ME. Mail waits for its next call, or the start of its session.'
  const own = routes.some(({ detail }) => detail === 'held: own_act') ? ownActNote : ''
  return (
    summary +
    table(io, ['ROUTE', 'SUBSCRIPTION', 'PROVED', 'SOURCE', 'AT', 'AFTER', 'DETAIL'], rows, none, ['AT', 'SOURCE']) +
    own
  )
}

const ownActNote =
  "An agent is not woken by its own messages. Test it with another agent's key or the operator's: --key-file <file>.\n"

const ways = {
  push: 'a subscription',
  piggyback: 'the answer to a call of the agent',
  startup_drain: 'the start of its session',
  inbox: 'its own report',
} as const

function wakeText(io: Io, { step, source, at, detail }: NonNullable<WakeTest['message']['wake']>): string {
  return plain(`${step}${source ? ` by ${source}` : ''} at ${when(io, at)}${detail ? ` (${detail})` : ''}`)
}

function after(ms: number | null): string {
  return ms === null ? '' : ` after ${ms} ms`
}

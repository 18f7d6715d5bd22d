import type { Io } from '../../client/io.ts'
import type { AttemptView, DeliveryView, HeldView, TestView, WakeStepView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { isArrival } from '../../words/receipts.ts'
import { table } from './table.ts'
import { when } from './when.ts'

export function deliveryTable(io: Io, deliveries: readonly DeliveryView[]): string {
  return table(
    io,
    ['EVENT', 'TYPE', 'LOG', 'OUTCOME', 'STEP', 'TRIES', 'LAST WORD'],
    deliveries.map((delivery) => [
      delivery.eventId,
      delivery.eventType,
      logRange(delivery),
      delivery.outcome,
      delivery.step ?? undefined,
      delivery.attempts.length,
      lastWord(io, delivery),
    ]),
    'Nothing has been delivered yet. Try: rouse sub test <id>',
    ['LOG', 'TYPE', 'STEP'],
  )
}

export function heldTable(io: Io, held: readonly HeldView[]): string {
  return table(
    io,
    ['LOG', 'TYPE', 'DECISION', 'REASON', 'PRESENCE', 'MESSAGE OR TASK', 'AT'],
    held.map(({ logId, type, action, reason, presence, messageId, taskId, createdAt }) => [
      logId,
      type,
      action,
      reason,
      presence,
      messageId ?? taskId,
      when(io, createdAt),
    ]),
    'Nothing was held.',
    ['PRESENCE', 'TYPE', 'AT'],
  )
}

/** True when a test wake arrived: a webhook has answered 2xx, or the reader of a stream reports that it has it. Pure. */
export function isTaken({ attempt, reported, waitsSeconds }: TestView): boolean {
  return waitsSeconds === undefined ? isAccepted(attempt) : isArrival(reported?.step)
}

function isAccepted({ error, status }: AttemptView): boolean {
  return error === null && status !== null && status >= 200 && status < 300
}

/** The outcome of a test wake, in a line. */
export function testText(io: Io, { attempt, reported, waitsSeconds }: TestView): string {
  if (waitsSeconds === undefined) {
    const verdict = `The webhook ${isAccepted(attempt) ? 'accepted' : 'did not accept'} the test wake`
    return `${verdict}: ${plain(attemptText(io, attempt))}\n`
  }
  if (!reported) return `The reader of the stream said nothing about the test wake within ${waitsSeconds} s.\n`
  return `The reader of the stream says: ${plain(stepText(io, reported))}\n`
}

/** The text of a step: `turn_started by codex: turn/started at 12:00 (the user's turn ended)`. */
function stepText(io: Io, { step, source, detail, at }: WakeStepView): string {
  return `${step}${source ? ` by ${source}` : ''}${io.columns === undefined ? ' at' : ','} ${when(io, at)}${detail ? ` (${detail})` : ''}`
}

function lastWord(io: Io, { attempts, steps }: DeliveryView): string | undefined {
  const said = steps?.at(-1)
  if (said) return stepText(io, said)
  const attempt = attempts.at(-1)
  return attempt && attemptText(io, attempt)
}

function attemptText(io: Io, { error, detail, status, durationMs, at }: AttemptView): string {
  const answer = error ?? (status === null ? 'no answer' : `HTTP ${status}`)
  return `${answer}${detail ? ` (${detail})` : ''} after ${Math.round(durationMs)} ms${io.columns === undefined ? ' at' : ','} ${when(io, at)}`
}

function logRange({ logIds }: DeliveryView): string {
  return logIds.join('-')
}

import type { Command } from 'commander'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Io } from '../../client/io.ts'
import type { AnswerOf, NeedView } from '../../client/route-types.ts'
import { mayPass } from '../../client/wakes/streamed-wakes.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { noticeOf, showNotice } from '../listen/desktop.ts'
import { needsText } from '../output/needs-view.ts'
import { clientCommand, connect } from '../run/client-command.ts'
import { followEvents } from '../tail/follow-events.ts'

/** Some needs begin without an event: a task that nobody takes up, a receiver that stays away. */
const lookAgainMs = 30_000
type NeedsAnswer = AnswerOf<'GET /v1/needs'>
type Notable = Pick<NeedView, 'kind' | 'agent' | 'text'>

/** Between two looks, in ms: a busy log is looked at once in a while. */
const pauseMs = 1_000

/** `rouse watch` */
export function registerWatch(program: Command, io: Io): void {
  clientCommand(program, 'watch', 'show what waits for a person, and again whenever that changes, until Ctrl-C', [
    'rouse watch',
    'rouse watch --notify            # also on the desktop, for what is new',
    'rouse watch --json | jq .needs',
  ])
    .option('--notify', 'show a notification on the desktop for each need that is new')
    .action(async ({ notify = false }: { notify?: boolean }, command: Command) => {
      const { gateway, print } = connect(io, command)
      let shown = ''
      let known: ReadonlyMap<string, number> | undefined
      for await (const _ of looks(gateway, io, print.note)) {
        const found = await gateway.call('GET /v1/needs', { query: {} }).catch((error: unknown) => {
          // The stream reports that the gateway is away, and asks for a look when it is back.
          if (known === undefined || !mayPass(error)) throw error
        })
        if (!found) continue
        const needs = found.needs.map(({ id, kind, snoozedUntil }) => [id, kind, snoozedUntil])
        const state = JSON.stringify([needs, found.groups])
        if (state === shown) continue
        shown = state
        print.item(found, () => needsText(io, found).trimEnd())
        if (notify && known) for (const need of newIn(found, known)) await tell(io, need, print.note)
        known = new Map([...found.needs.map((one) => [nameOf(one), 1] as const), ...found.folded.map(countOf)])
      }
    })
}

/** Yields when it is time to look: now, after events of the log, and once in a while. */
async function* looks(gateway: GatewayClient, io: Io, note: (text: string) => void): AsyncGenerator<void> {
  const { signal } = io
  let wake = (): void => {}
  let hasGrown = false
  const notice = (): void => {
    hasGrown = true
    wake()
  }
  let failure: { readonly error: unknown } | undefined
  const follow = async (): Promise<void> => {
    for await (const _ of followEvents(gateway, { since: undefined, signal, note, onOpen: notice })) notice()
  }
  const following = follow().catch((error: unknown) => {
    failure = { error }
    notice()
  })
  while (!signal?.aborted) {
    yield
    await sleep(systemClock, pauseMs, signal)
    if (!hasGrown) {
      const grown = new AbortController()
      wake = () => grown.abort()
      await sleep(systemClock, lookAgainMs - pauseMs, AbortSignal.any([grown.signal, ...(signal ? [signal] : [])]))
    }
    hasGrown = false
    if (failure) throw failure.error
  }
  await following
  if (failure) throw failure.error
}

const nameOf = ({ id, kind }: NeedView): string => `${id} ${kind}`

const countOf = ({ kind, agent, count }: NeedsAnswer['folded'][number]) => [`${kind} ${agent}`, count] as const

/** The needs that were not there at the look before. Of those that are not listed there is one for all of an agent and kind. */
function newIn({ needs, folded }: NeedsAnswer, known: ReadonlyMap<string, number>): Notable[] {
  const more = folded.filter((one) => one.count > (known.get(countOf(one)[0]) ?? 0))
  return [
    ...needs.filter((need) => need.snoozedUntil === undefined && !known.has(nameOf(need))),
    ...more.map(({ kind, agent, count }) => ({ kind, agent, text: `and ${count} more` })),
  ]
}

async function tell(io: Io, { kind, agent, text }: Notable, note: (text: string) => void): Promise<void> {
  const payload = { change: 'raised', kind, agent, subject: text }
  const notice = noticeOf({ eventType: 'wake/need_changed', eventId: '', payload })
  if (!notice) return
  await showNotice(notice, io).catch((error: NodeJS.ErrnoException) => {
    note(
      `No notification: ${error.code === 'ENOENT' ? 'the program for notifications is not installed' : error.message}.`,
    )
  })
}

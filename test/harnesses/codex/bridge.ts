import type { AdapterContext, HarnessSession, OutgoingWake, WakeEnd } from '../../../src/bridge/adapter.ts'
import type { LocalReport, ReportedConversation } from '../../../src/bridge/local/clients.ts'
import { CodexAdapter } from '../../../src/harnesses/codex/adapter/codex-adapter.ts'
import type { WakeTimes } from '../../../src/harnesses/codex/adapter/wake/verdict.ts'
import { untilAborted } from '../../../src/lib/until-aborted.ts'
import { atTestEnd } from '../../support/ends.ts'
import { until } from '../../support/until.ts'
import type { FakeThread } from './fake-thread.ts'

const shortTimes: WakeTimes = {
  pausedMs: 200,
  slowMs: 500,
  goneMs: 400,
  nearMs: 20,
  lookMs: 50,
  lookLaterMs: 100,
  serverLookMs: 300,
  reconnectMs: 20,
  reconnectMaxMs: 40,
}

interface Options {
  readonly directories: readonly string[]
  readonly settings: Readonly<Record<string, unknown>>
  readonly env?: AdapterContext['env']
  readonly times?: WakeTimes
}

/** A Codex adapter with what the bridge gives it. `hookSays`: about a wake; `hooked`: what hooks have said about conversations. */
export function startAdapter({ directories, settings, env = { PATH: '' }, times = shortTimes }: Options) {
  const notes: string[] = []
  const hooked: ReportedConversation[] = []
  let tell: (report: LocalReport) => void = () => {}
  const reported = new Promise<LocalReport>((resolve) => {
    tell = resolve
  })
  const context: AdapterContext = {
    env,
    settings,
    directories,
    now: Date.now,
    note: (text) => notes.push(text),
    clients: {
      attached: () => [],
      reportedConversations: () => hooked,
      onChange: () => () => {},
      reported: async (wakeId, isEnough, signal) => {
        const report = await Promise.race([reported, untilAborted(signal)])
        return report && report.wakeId === wakeId && isEnough(report) ? report : undefined
      },
    },
  }
  const adapter = new CodexAdapter(context, times)
  atTestEnd(() => adapter[Symbol.asyncDispose]())
  return { adapter, notes, hooked, hookSays: (report: LocalReport) => tell(report) }
}

let last = 0

/** A wake with an id of its own. */
export function makeWake(): OutgoingWake {
  last += 1
  const id = `01J0000000000000000000${String(last).padStart(4, '0')}`
  return { id, text: `[Rouse ${id}] New message.`, lines: `[Rouse ${id}]\nNew message.` }
}

export const sessionOf = (conversationId: string): HarnessSession => ({
  harness: 'codex',
  conversationId,
  state: 'unknown',
})

/** Hands a wake over, and keeps what is reported on the way. `ended` resolves with how it ended, and after how long. */
export function handOver(adapter: CodexAdapter, conversationId: string, wake = makeWake()) {
  const reports: string[] = []
  const routes: string[] = []
  const stopping = new AbortController()
  const startedAt = performance.now()
  atTestEnd(async () => {
    stopping.abort()
    await ended.catch(() => {})
  })
  const ended = adapter
    .wake(sessionOf(conversationId), wake, {
      handingOver: async (route) => void routes.push(route),
      report: (step, detail) => reports.push(`${step}: ${detail}`),
      signal: stopping.signal,
    })
    .then((end): WakeEnd & { ms: number } => ({ ...end, ms: Math.round(performance.now() - startedAt) }))
  return { wake, reports, routes, ended, stop: () => stopping.abort() }
}

/** Waits until a wake is in the queue of a conversation. */
export function untilQueued(thread: FakeThread): Promise<number> {
  return until(
    () => thread.queue.length,
    (length) => length > 0,
  )
}

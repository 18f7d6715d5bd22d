import type { FindResult, HarnessSession, OutgoingWake, WakeEnd, WakeTools } from '../../../../bridge/adapter.ts'
import {
  type AttachedClient,
  type LocalClients,
  type LocalReport,
  WakeDeclined,
} from '../../../../bridge/local/clients.ts'
import { reasonOfState } from '../../../../bridge/reason-of-state.ts'
import { withTimeout } from '../../../../client/with-timeout.ts'
import { heldBy } from '../v1/activity.ts'
import { startedProcess } from '../v1/servers.ts'
import { passedOver, waitsForTurn } from '../v1/turn.ts'

/** The name of this way in the journal and in `HarnessSession.route`. */
const pluginRoute = 'plugin'

/** A plugin that has lost the bridge connects again within 2 s. If it does not within this time, its OpenCode has ended. */
const goneMs = 10_000
/** Right after it has attached, the plugin reports the outcome of earlier wakes. */
const historyMs = 4_000

/** The conversations of OpenCode that have our plugin. Each is the one that its terminal shows. */
export function pluginSessions(clients: LocalClients): HarnessSession[] {
  return clients.attached('opencode').map(sessionOf)
}

function sessionOf({ conversationId, cwd, process, state }: AttachedClient): HarnessSession {
  return {
    harness: 'opencode',
    conversationId,
    ...(cwd === undefined ? {} : { cwd }),
    ...(process === undefined ? {} : { process: startedProcess(process.pid) }),
    state: state ?? 'unknown',
    route: pluginRoute,
  }
}

/** The plugin that serves a conversation; undefined: none has called. */
export function pluginOf(
  clients: LocalClients,
  { conversationId, process }: HarnessSession,
): AttachedClient | undefined {
  const own = clients.attached('opencode').filter((client) => client.conversationId === conversationId)
  return own.find((client) => process === undefined || client.process?.pid === process.pid)
}

/**
 * Starts a turn with a wake through the plugin, which reads the state once more, checks whether it has the wake, and reports its outcome.
 * Errors: the signal aborts.
 */
export async function wakeByPlugin(
  clients: LocalClients,
  session: HarnessSession,
  wake: OutgoingWake,
  tools: WakeTools,
): Promise<WakeEnd> {
  const client = pluginOf(clients, session)
  if (client === undefined) return { step: 'held', detail: 'Its plugin has gone.', reason: 'no_session' }
  const held = heldBy(client.state ?? 'unknown')
  if (held) return held
  await tools.handingOver(pluginRoute)
  const sentAt = Date.now()
  try {
    await client.send(wake)
    tools.report('accepted', 'The plugin has handed it to OpenCode. That proves no turn.')
  } catch (error) {
    tools.signal.throwIfAborted()
    if (error instanceof WakeDeclined) {
      return { step: 'held', detail: error.message, reason: reasonOfState(pluginOf(clients, session)?.state) }
    }
    // It may have the wake: the plugin reports that when it is connected again.
  }
  return followReports(clients, session, { wakeId: wake.id, sentAt }, tools)
}

interface SentWake {
  readonly wakeId: string
  /** ms since the epoch */
  readonly sentAt: number
}

async function followReports(
  clients: LocalClients,
  session: HarnessSession,
  { wakeId, sentAt }: SentWake,
  tools: WakeTools,
): Promise<WakeEnd> {
  let saidHeld = false
  for (let seenAt = Date.now(); ; ) {
    const isEnough = (report: LocalReport) => endOf(report, sentAt) !== undefined || (!saidHeld && isQueued(report))
    const report = await reportWithin(clients, wakeId, isEnough, tools.signal, goneMs / 4)
    tools.signal.throwIfAborted()
    const end = report && endOf(report, sentAt)
    if (end) return end
    if (report && !saidHeld) {
      saidHeld = true
      tools.report('held', waitsForTurn, 'turn_active')
    }
    if (pluginOf(clients, session)) seenAt = Date.now()
    else if (Date.now() - seenAt > goneMs) {
      return { step: 'unknown', detail: 'Its OpenCode has ended before it said that a turn began.' }
    }
  }
}

/** The next report that is enough; undefined: there was none in time. */
function reportWithin(
  clients: LocalClients,
  wakeId: string,
  isEnough: (report: LocalReport) => boolean,
  outer: AbortSignal,
  timeoutMs: number,
): Promise<LocalReport | undefined> {
  const limit = { signal: outer, timeoutMs, expired: () => new Error('late') }
  return withTimeout(limit, (signal) => clients.reported(wakeId, isEnough, signal))
}

const isQueued = ({ step, proof }: LocalReport): boolean => step === 'held' && takenBackAt(proof) === undefined

/** How a report of the plugin ends the wake; undefined: the wake is open. Reports from before its last hand-over do not count. Pure. */
function endOf({ step, proof }: LocalReport, sentAt: number): WakeEnd | undefined {
  switch (step) {
    case 'turn_started':
      return { step, detail: proof }
    case 'delivered':
      return { step, detail: 'The turn of a later prompt had it in its context.' }
    case 'unknown':
      return { step, detail: `OpenCode took the prompt, and it is not in the conversation (${proof}).` }
    case 'held':
      // The same ms is before it too: the plugin waits for longer until it takes a wake back.
      if ((takenBackAt(proof) ?? 0) <= sentAt) return undefined
      return passedOver
    default:
      return undefined
  }
}

/** The plugin says when: `taken back 1763839393000`. */
function takenBackAt(proof: string): number | undefined {
  const time = /^taken back (\d+)$/.exec(proof)?.[1]
  return time === undefined ? undefined : Number(time)
}

/**
 * Finds the outcome of a wake in the reports of the plugin since it attached. `absent`: the plugin has searched the conversation; it
 * searches once more before it hands the wake over.
 */
export async function findByPlugin(
  clients: LocalClients,
  session: HarnessSession,
  wakeId: string,
  signal: AbortSignal,
): Promise<FindResult> {
  const strongest = await reportWithin(clients, wakeId, ({ step }) => step === 'turn_started', signal, historyMs)
  if (strongest) return 'turn_started'
  const any = await clients.reported(wakeId, () => true, AbortSignal.abort())
  if (any === undefined) return pluginOf(clients, session) ? 'absent' : 'unknown'
  if (any.step === 'delivered') return 'delivered'
  return any.step === 'held' ? 'waits' : 'unknown'
}

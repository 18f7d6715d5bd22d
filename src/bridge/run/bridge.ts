import type { Io } from '../../client/io.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import type { AdapterRow } from '../adapter.ts'
import type { BridgeConfig, BridgedAgent } from '../config/bridge-config.ts'
import type { Journal } from '../journal/journal.ts'
import type { LocalServer, LocalServerOptions } from '../local/clients.ts'
import type { KnownSession } from '../target/same-conversation.ts'
import { AdapterHost } from './adapter-host.ts'
import { AgentRun } from './agent-run.ts'
import { anotherKey } from './another-key.ts'
import type { OutgoingReceipt } from './receipt-outbox.ts'
import type { RecoveryTimes } from './recovery.ts'
import type { BridgeStatus } from './status.ts'
import { agentStatus, harnessStatus } from './status-of.ts'

/** What a bridge is made of. */
interface BridgeParts {
  readonly config: BridgeConfig
  /** The rows of the harnesses that its agents have. */
  readonly rows: readonly AdapterRow[]
  readonly journal: Journal
  readonly startLocal: (options: LocalServerOptions) => Promise<LocalServer>
  readonly io: Io
  /** ms since the epoch */
  readonly now: () => number
  /** A line for the user. */
  readonly note: (text: string) => void
  /** A step of a wake of an agent. */
  readonly noteReceipt: (agent: string, receipt: OutgoingReceipt) => void
  /** For tests. */
  readonly recoveryTimes?: RecoveryTimes | undefined
}

const pruneMs = 3_600_000
/** An orderly end takes no longer: what was handed over is in the journal. */
const stopMsMax = 1_500
const otherSessionMsMax = 30_000
const minuteMs = 60_000

/**
 * Runs the bridge until its signal aborts, and then throws the signal's reason. Errors: settings that an adapter cannot work with; the
 * local socket; no agent is left that can be woken here.
 */
export async function runBridge(parts: BridgeParts): Promise<void> {
  const { config, rows, journal, startLocal, io, now, note, noteReceipt } = parts
  const startedAt = new Date(now()).toISOString()
  const runs: AgentRun[] = []
  let host: AdapterHost | undefined
  await using local = await startLocal({ env: io.env, note, status })
  const directories = [...new Set(config.agents.flatMap((agent) => agent.directories))]
  const { adapters: settings } = config
  await using hosted = new AdapterHost({ rows, settings, directories, clients: local, env: io.env, now, note })
  host = hosted
  const startRun = (agent: BridgedAgent): AgentRun => {
    const run: AgentRun = new AgentRun({
      agent,
      maxTurnsAMinute: config.maxTurnsAMinute,
      harnessWaitMinutes: config.harnessWaitMinutes,
      host: hosted,
      journal,
      io,
      now,
      others: (signal) => othersOf(run, signal),
      note: (text) => note(`${agent.profile.identity}: ${text}`),
      noteReceipt: (receipt) => noteReceipt(agent.profile.identity, receipt),
      recoveryTimes: parts.recoveryTimes,
    })
    return run
  }
  runs.push(...config.agents.map(startRun))
  journal.prune()
  const pruning = setInterval(() => prune(), pruneMs)
  hosted.start()
  try {
    const all = Promise.all(config.agents.map((_, index) => runAgent(index)))
    await Promise.race([all, untilAborted(io.signal)])
  } finally {
    clearInterval(pruning)
    const late = AbortSignal.timeout(stopMsMax)
    await Promise.race([Promise.all(runs.map((run) => run.stop(late))), untilAborted(late)])
  }
  io.signal?.throwIfAborted()
  throw new Error('No agent is left that can be woken here.')

  /** Runs an agent until it can be woken no more, also with another key. */
  async function runAgent(index: number): Promise<void> {
    for (;;) {
      const run = runs[index]!
      await run.run()
      const profile = run.wantsKey ? await anotherKey(io, run.agent.profile) : undefined
      if (profile === undefined) return
      await run.stop(AbortSignal.timeout(stopMsMax))
      note(`${profile.identity}: its profile has another key. Trying again …`)
      runs[index] = startRun({ ...run.agent, profile })
    }
  }

  async function othersOf(own: AgentRun, signal: AbortSignal): Promise<readonly KnownSession[]> {
    const others = runs.filter((run) => run !== own)
    const sessions = await Promise.all(others.map((run) => run.session.recent(otherSessionMsMax, signal)))
    return sessions.filter((session) => session !== undefined)
  }

  function prune(): void {
    try {
      journal.prune()
    } catch (error) {
      note(`The journal cannot be pruned: ${(error as Error).message}`)
    }
  }

  async function status(): Promise<BridgeStatus> {
    const probes =
      host === undefined
        ? []
        : await Promise.all(host.ids.map(async (id) => harnessStatus(host!.row(id), await host!.look(id))))
    return {
      isRunning: true,
      pid: process.pid,
      startedAt,
      config: config.path,
      agents: runs.map((run) => {
        const { held, waiting } = run.queue
        return agentStatus(run.agent, { ...run.state, held, waiting }, journal, now())
      }),
      harnesses: probes,
      turnsLastMinute: journal.turnsSince(undefined, now() - minuteMs),
      maxTurnsAMinute: config.maxTurnsAMinute,
    }
  }
}

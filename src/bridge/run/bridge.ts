import type { Io } from '../../client/io.ts'
import { readProfiles } from '../../client/profile-file.ts'
import type { RecoveryTimes } from '../../client/wakes/recovery.ts'
import { sleep, systemClock } from '../../lib/clock.ts'
import { untilAborted } from '../../lib/until-aborted.ts'
import type { AdapterRow } from '../adapter.ts'
import type { BridgeConfig, BridgedAgent } from '../config/bridge-config.ts'
import type { Journal } from '../journal/journal.ts'
import type { LocalServer, LocalServerOptions } from '../local/clients.ts'
import type { ProofState } from '../local/protocol.ts'
import type { KnownSession } from '../target/same-conversation.ts'
import { AdapterHost } from './adapter-host.ts'
import { AgentRun } from './agent-run.ts'
import type { OutgoingReceipt } from './receipt-outbox.ts'
import type { BridgeStatus } from './status.ts'
import { agentStatus, harnessStatus } from './status-of.ts'

const lookEveryMs = 2_000

/** The parts that a bridge is made of. */
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
  /** For tests: how often an account is reported, in ms. */
  readonly accountMs?: number | undefined
}

const pruneMs = 3_600_000
/** An orderly stop waits no longer than this: wakes that were handed over are in the journal. */
const stopMsMax = 1_500
const otherSessionMsMax = 30_000
const minuteMs = 60_000

/**
 * Runs the bridge until its signal aborts, and then throws the signal's reason. Errors: settings that an adapter cannot work with; the
 * local socket; no agent is left that can be woken here.
 */
export async function runBridge(parts: BridgeParts): Promise<void> {
  const { config, rows, journal, startLocal, io, now, note } = parts
  let begin: (bridge: Bridge) => void = () => {}
  const begun = new Promise<Bridge>((resolve) => (begin = resolve))
  await using local = await startLocal({
    env: io.env,
    note,
    status: async () => (await begun).status(),
    prove: async (agent, run) => (await begun).prove(agent, run),
  })
  const directories = [...new Set(config.agents.flatMap((agent) => agent.directories))]
  const { adapters: settings } = config
  await using host = new AdapterHost({ rows, settings, directories, clients: local, env: io.env, now, note })
  const bridge = new Bridge(parts, host)
  begin(bridge)
  using _pruning = pruneHourly(journal, note)
  host.start()
  await bridge.run()
  io.signal?.throwIfAborted()
  throw new Error('No agent is left that can be woken here.')
}

/** The runs of all agents of this machine. */
class Bridge {
  readonly #parts: BridgeParts
  readonly #host: AdapterHost
  readonly #startedAt: string
  readonly #runs: AgentRun[]

  constructor(parts: BridgeParts, host: AdapterHost) {
    this.#parts = parts
    this.#host = host
    this.#startedAt = new Date(parts.now()).toISOString()
    this.#runs = parts.config.agents.map((agent) => this.#createRun(agent))
  }

  /** Resolves when the signal aborts, or no agent can be woken any more. */
  async run(): Promise<void> {
    const { signal } = this.#parts.io
    try {
      const all = Promise.all(this.#runs.map((_, index) => this.#runAgent(index)))
      await Promise.race([all, untilAborted(signal)])
    } finally {
      const late = AbortSignal.timeout(stopMsMax)
      await Promise.race([Promise.all(this.#runs.map((run) => run.stop(late))), untilAborted(late)])
    }
  }

  async status(): Promise<BridgeStatus> {
    const { config, journal, now } = this.#parts
    const host = this.#host
    return {
      isRunning: true,
      pid: process.pid,
      startedAt: this.#startedAt,
      config: config.path,
      harnesses: await Promise.all(host.ids.map(async (id) => harnessStatus(host.row(id), await host.look(id)))),
      agents: this.#runs.map((run) => {
        const { held, waiting } = run.queue
        return agentStatus(
          run.agent,
          { ...run.state, held, waiting, parked: run.recovery.parked?.reason },
          journal,
          now(),
        )
      }),
      turnsLastMinute: journal.turnsSince(undefined, now() - minuteMs),
      maxTurnsAMinute: config.maxTurnsAMinute,
    }
  }

  /** Begins the proof of a recipe, or reports how it stands. */
  prove(named: string, run: string): ProofState {
    const found = this.#runs.filter(({ agent: { profile } }) => [profile.identity, profile.name].includes(named))
    const failed = (detail: string): ProofState => ({ state: 'failed', detail })
    if (found.length > 1) return failed(`${named} is an agent of several gateways: name its profile`)
    if (found[0]) return found[0].recovery.proof.prove(run)
    const names = this.#runs.map(({ agent }) => agent.profile.identity).join(', ')
    return failed(`the configuration of the bridge has no agent ${named}. It has: ${names}`)
  }

  /** Runs an agent until it can be woken no more, also with another key. */
  async #runAgent(index: number): Promise<void> {
    const { io, note } = this.#parts
    for (;;) {
      const run = this.#runs[index]!
      await run.run()
      const profile = run.wantsKey ? await anotherKey(io, run.agent.profile) : undefined
      if (profile === undefined) return
      await run.stop(AbortSignal.timeout(stopMsMax))
      note(`${profile.identity}: its profile has another key. Trying again …`)
      this.#runs[index] = this.#createRun({ ...run.agent, profile })
    }
  }

  #createRun(agent: BridgedAgent): AgentRun {
    const { config, journal, io, now, note, noteReceipt, recoveryTimes, accountMs } = this.#parts
    const { identity } = agent.profile
    const run: AgentRun = new AgentRun({
      agent,
      maxTurnsAMinute: config.maxTurnsAMinute,
      harnessWaitMinutes: config.harnessWaitMinutes,
      host: this.#host,
      journal,
      io,
      now,
      startedAt: this.#startedAt,
      others: (signal) => this.#sessionsBeside(run, signal),
      note: (text) => note(`${identity}: ${text}`),
      noteReceipt: (receipt) => noteReceipt(identity, receipt),
      recoveryTimes,
      accountMs,
    })
    return run
  }

  /** The live sessions of the other agents, as far as they are known. */
  async #sessionsBeside(own: AgentRun, signal: AbortSignal): Promise<readonly KnownSession[]> {
    const others = this.#runs.filter((run) => run !== own)
    const sessions = await Promise.all(others.map((run) => run.session.recent(otherSessionMsMax, signal)))
    return sessions.filter((session) => session !== undefined)
  }
}

/** Prunes the journal now and every hour, until it is disposed of. A failure is noted: the bridge goes on. */
function pruneHourly(journal: Journal, note: (text: string) => void): Disposable {
  journal.prune()
  const timer = setInterval(() => {
    try {
      journal.prune()
    } catch (error) {
      note(`The journal cannot be pruned: ${(error as Error).message}`)
    }
  }, pruneMs)
  return { [Symbol.dispose]: () => clearInterval(timer) }
}

type NamedProfile = BridgedAgent['profile']

/** Waits until a profile has another key: its user has logged in again. undefined: the signal of the bridge has aborted. */
async function anotherKey(io: Io, { name, key, url }: NamedProfile): Promise<NamedProfile | undefined> {
  while (!io.signal?.aborted) {
    await sleep(systemClock, lookEveryMs, io.signal)
    const profile = read(io, name)
    if (profile && (profile.key !== key || profile.url !== url)) return { name, ...profile }
  }
  return undefined
}

/** A file that is being written, or cannot be read now, is read again. */
function read(io: Io, name: string) {
  try {
    return readProfiles(io).byName.get(name)
  } catch {
    return undefined
  }
}

import { sleep } from '../../lib/clock.ts'
import { agentKey } from '../config/bridge-config.ts'
import type { ProofState } from '../local/protocol.ts'
import type { LiveSession } from '../run/own-session.ts'
import { recipeHash } from './recipe.ts'
import type { RestartParts, Restarts } from './restarts.ts'
import { endGroup, isRunning, speaksFrom } from './started.ts'

interface ProofParts extends Omit<RestartParts, 'session'> {
  readonly session: (signal: AbortSignal) => Promise<LiveSession | undefined>
  readonly signal: AbortSignal
}

/** A harness that has not begun to work by then has not started. */
const bootMs = 15 * 60_000
const lookMs = 1_000

/**
 * Proves the recipe of an agent: starts it once for real, and waits for a new process, a new session from it, and its first act. A proof that
 * fails leaves no process; one that succeeds leaves the harness at work. A person begins it. Source: S3-6, S3-11.
 */
export class Proof {
  readonly #parts: ProofParts
  readonly #restarts: Restarts
  #run: string | undefined
  #state: ProofState = { state: 'failed', detail: 'none was begun' }

  constructor(parts: ProofParts, restarts: Restarts) {
    this.#parts = parts
    this.#restarts = restarts
  }

  /** Begins a proof under a name that its caller has made, or reports how that one stands. While one runs, no other is begun. */
  prove(run: string): ProofState {
    if (run === this.#run || (this.#run !== undefined && this.#state.state === 'running')) return this.#state
    this.#run = run
    this.#say('running', 'it is begun')
    void this.#prove().catch((error: Error) => this.#say('failed', error.message))
    return this.#state
  }

  #say(state: ProofState['state'], detail: string): void {
    this.#state = { state, detail }
  }

  async #prove(): Promise<void> {
    const { agent, journal, session, signal, clock, note } = this.#parts
    const { recipe } = this.#restarts
    if (recipe === undefined)
      throw new Error('there is no recipe: add "restart" to the agent in the configuration of the bridge')
    if (this.#restarts.isStarting) throw new Error('a restart is under way: try again when it has ended')
    using _held = this.#restarts.hold()
    const { running } = this.#restarts
    if (running) throw new Error(`the process ${running.pid}, which this bridge has started, runs: end it first`)
    const foreign = await this.#restarts.foreign(signal)
    if (foreign) throw new Error(foreign)
    const before = await session(signal)
    const id = journal.starts.begin(agentKey(agent), null, recipeHash(recipe))!
    this.#say('running', 'its command is started')
    const deadlineAt = clock.now() + bootMs
    await this.#restarts.start(id, recipe, null, deadlineAt, signal)
    const record = this.#restarts.running
    if (record?.id !== id) throw new Error(journal.starts.newest(agentKey(agent))?.detail || 'it has ended')
    const why = await this.#untilItActs(before?.id, deadlineAt)
    if (why !== undefined) {
      await endGroup(record, clock)
      throw new Error(why)
    }
    journal.starts.saveProof(agentKey(agent), recipeHash(recipe))
    this.#say('proven', `a new process (${record.pid}), a new session from it, and its first act`)
    note('its recipe is proven')
  }

  /** Returns what has not happened in time. */
  async #untilItActs(before: string | undefined, deadlineAt: number): Promise<string | undefined> {
    const { session, clock, signal } = this.#parts
    let isNew = false
    while (clock.now() < deadlineAt && !signal.aborted) {
      const record = this.#restarts.running
      if (record === undefined || !isRunning(record)) return 'its process has ended before it has acted'
      const live = await session(signal).catch(() => undefined)
      isNew = live !== undefined && live.id !== before && (live.pid === undefined || speaksFrom(live, record))
      if (isNew && live?.hasActed) return undefined
      this.#say('running', isNew ? 'its new session is live; its first act is waited for' : 'its session is waited for')
      await sleep(clock, lookMs, signal)
    }
    if (signal.aborted) return 'the bridge stops'
    const what = isNew
      ? 'its new session has not acted'
      : 'no new session has started from it: are the hooks or tools of Rouse installed there?'
    return `${what} within ${bootMs / 60_000} minutes`
  }
}

import { join } from 'node:path'
import type { Io } from '../../client/io.ts'
import { plain } from '../../client/terminal-text.ts'
import { type Clock, sleep } from '../../lib/clock.ts'
import { agentKey, type BridgedAgent } from '../config/bridge-config.ts'
import type { Journal } from '../journal/journal.ts'
import type { StartRecord, StartRecords } from '../journal/start-records.ts'
import type { Order, RecoveryCalls } from '../recovery/recovery-calls.ts'
import type { KnownSession } from '../target/same-conversation.ts'
import { bootPrompt } from './boot-prompt.ts'
import { type Recipe, recipeHash } from './recipe.ts'
import { type StartedProcess, startProcess } from './start-process.ts'
import { endGroup, isOfGroup, isRunning, speaksFrom } from './started.ts'

/** The parts of its run that the restarts of an agent use. */
export interface RestartParts {
  readonly agent: BridgedAgent
  readonly journal: Journal
  readonly calls: RecoveryCalls
  /** The live session of the agent at its gateway. Errors: of the gateway. */
  readonly session: (signal: AbortSignal) => Promise<KnownSession | undefined>
  /** The processes of this machine in which the agent is open, looked for now. Errors: of the gateway. */
  readonly open: (signal: AbortSignal) => Promise<readonly number[]>
  readonly env: Io['env']
  readonly clock: Clock
  /** A line for the user about this agent. */
  readonly note: (text: string) => void
}

const lookMs = 100

/**
 * Starts the harness of one agent when its gateway orders it, with the recipe of its user. One at a time, and each act once: its record is
 * written before anything is done, and is there after a crash. What it does not know to be its own is not ended. Source: S3-6, S3-9.
 */
export class Restarts {
  readonly #parts: RestartParts
  readonly #agent: string
  readonly #records: StartRecords
  /** Those of this life, and those of an earlier one that were adopted. */
  readonly #own = new Set<number>()
  /** The one that is being started. */
  #starting: number | undefined
  #isHeld = false

  constructor(parts: RestartParts) {
    this.#parts = parts
    this.#agent = agentKey(parts.agent)
    this.#records = parts.journal.starts
  }

  get recipe(): Recipe | undefined {
    return this.#parts.agent.restart
  }

  /** True: its recipe has worked, as it is written now. */
  get recipeState(): 'none' | 'unproven' | 'proven' {
    if (this.recipe === undefined) return 'none'
    return this.#records.proof(this.#agent)?.recipe === recipeHash(this.recipe) ? 'proven' : 'unproven'
  }

  /** True: a start is under way, or what decides about one: another one waits for its end. */
  get isStarting(): boolean {
    return this.#isHeld || this.#starting !== undefined
  }

  /** Nothing else is started until it is disposed of. Only where `isStarting` is false. */
  hold(): Disposable {
    this.#isHeld = true
    return {
      [Symbol.dispose]: () => {
        this.#isHeld = false
      },
    }
  }

  /** The process that it has started and that runs. */
  get running(): StartRecord | undefined {
    return this.#records.open(this.#agent).find((record) => isRunning(record))
  }

  /** True: a process is one that it has started, or that one of those has. */
  hasStarted(pid: number | undefined): boolean {
    return pid !== undefined && this.#records.open(this.#agent).some((record) => isOfGroup(pid, record))
  }

  /**
   * Settles what is on record, before anything is started: what an earlier life has left is adopted if the session of the agent speaks from
   * it, and is ended otherwise. Then what the gateway does not know is reported to it. Errors: of the gateway; nothing may be started then.
   */
  async settle(signal: AbortSignal): Promise<void> {
    for (const record of this.#records.open(this.#agent)) {
      if (record.id !== this.#starting) await this.#settleOne(record, signal)
    }
    for (const record of this.#records.unreported(this.#agent)) await this.#report(record, signal)
  }

  /** Carries an order out. Errors: of the gateway, of the journal; nothing was started then. */
  async carryOut(order: Order, signal: AbortSignal): Promise<void> {
    const { calls, clock, note } = this.#parts
    const { recipe } = this
    if (order.mode !== 'restart' || order.deadlineAt <= clock.now() || this.isStarting) return
    // Before anything is waited for: a proof may begin meanwhile.
    using _held = this.hold()
    const refusal = await this.#refusal(signal)
    if (refusal !== undefined || recipe === undefined) {
      const id = this.#records.begin(this.#agent, order.epoch, recipe ? recipeHash(recipe) : '')
      if (id === undefined) return
      note(`restart ${order.epoch} is refused: ${refusal}`)
      this.#records.end(id, 'refused', refusal ?? '')
      this.#records.gone(id)
      return this.settle(signal)
    }
    const begun = await calls.begin(order.epoch, signal)
    if (typeof begun === 'string') return note(`restart ${order.epoch} is not begun: ${plain(begun)}`)
    const id = this.#records.begin(this.#agent, order.epoch, recipeHash(recipe))
    if (id === undefined) return
    await this.start(id, recipe, order.epoch, begun.deadlineAt, signal)
    await this.settle(signal)
  }

  /** Why nothing may be started now: a sentence with the remedy. Errors: of the gateway. */
  async #refusal(signal: AbortSignal): Promise<string | undefined> {
    const { agent } = this.#parts
    if (this.recipeState === 'none') return 'there is no recipe (agents[].restart) in the configuration of the bridge'
    if (this.recipeState === 'unproven')
      return `its recipe is not proven: rouse recovery prove ${agent.profile.identity}`
    return this.foreign(signal)
  }

  /** Another process that runs as the agent here: it is a person's, and is not ended. Errors: of the gateway. */
  async foreign(signal: AbortSignal): Promise<string | undefined> {
    const records = this.#records.open(this.#agent)
    const open = await this.#parts.open(signal)
    const found = open.find((pid) => !records.some((record) => isOfGroup(pid, record)))
    if (found === undefined) return undefined
    return `its harness runs here, and this bridge has not started it (process ${found}): close it first`
  }

  /** Starts a process for a record, and notes the outcome: first ends what this bridge has started before. Errors: of the journal. */
  async start(
    id: number,
    recipe: Recipe,
    epoch: number | null,
    deadlineAt: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { note } = this.#parts
    this.#own.add(id)
    this.#starting = id
    try {
      await this.#endOthers(id)
      if (signal.aborted) throw new Error('the bridge stops')
      if (deadlineAt <= this.#parts.clock.now()) throw new Error('its time is over')
      const process = await this.#begin(id, recipe, epoch)
      await this.#settled(id, process, recipe.settleMs, signal).finally(process.clean)
      // The next bridge finds out if it works.
      if (signal.aborted) return
      this.#records.end(id, 'started', '')
      note(`${nameOf(epoch)}: its harness is started (process ${process.pid})`)
    } catch (error) {
      const why = (error as Error).message
      this.#records.end(id, 'failed', why)
      this.#records.gone(id)
      note(`${nameOf(epoch)} has failed: ${plain(why)}`)
    } finally {
      this.#starting = undefined
    }
  }

  async #endOthers(id: number): Promise<void> {
    for (const record of this.#records.open(this.#agent)) {
      if (record.id === id) continue
      if (!(await endGroup(record, this.#parts.clock)))
        throw new Error(`the process ${record.pid}, which was started before, does not end`)
      this.#records.gone(record.id)
    }
  }

  #begin(id: number, recipe: Recipe, epoch: number | null): ReturnType<typeof startProcess> {
    const { agent, journal, env } = this.#parts
    const { identity, name: profile } = agent.profile
    return startProcess(recipe, {
      prompt: bootPrompt(identity, epoch),
      env,
      profile,
      name: `rouse-${identity.replace(/[^A-Za-z0-9-]/g, '')}-${epoch ?? `proof-${id}`}`,
      directory: join(journal.directory, 'restart'),
      recorded: (pid, start) => this.#records.running(id, pid, start),
    })
  }

  /** Waits until a process has run long enough. Errors: it has ended before, with how. */
  async #settled(id: number, process: StartedProcess, ms: number, signal: AbortSignal): Promise<void> {
    const record = this.#records.open(this.#agent).find((one) => one.id === id)!
    for (let waited = 0; waited < ms && !signal.aborted; waited += lookMs) {
      await sleep(this.#parts.clock, lookMs, signal)
      if (isRunning(record)) continue
      const seconds = (waited + lookMs) / 1_000
      throw new Error(`it ended within ${seconds} s${process.ending() ? `: ${process.ending()}` : ''}`)
    }
  }

  async #settleOne(record: StartRecord, signal: AbortSignal): Promise<void> {
    const { session, clock, note } = this.#parts
    if (isRunning(record) && !this.#own.has(record.id)) {
      const known = await session(signal)
      if (known && speaksFrom(known, record)) {
        this.#own.add(record.id)
        this.#records.end(record.id, 'started', '')
        return note(`adopted: the process ${record.pid}, which was started before this bridge`)
      }
      note(`ended: the process ${record.pid}, which was started before this bridge and in which no session is live`)
      if (!(await endGroup(record, clock))) throw new Error(`the process ${record.pid} does not end`)
    }
    if (isRunning(record)) return
    this.#records.end(record.id, 'failed', 'it ended with the bridge, or while that was away')
    this.#records.gone(record.id)
  }

  async #report({ id, epoch, outcome, pid, startedAt, detail }: StartRecord, signal: AbortSignal): Promise<void> {
    const of = pid === null || startedAt === null ? {} : { pid, startedAt }
    const said = { outcome: outcome!, ...of, ...(detail === '' ? {} : { detail: plain(detail) }) }
    await this.#parts.calls.report(epoch!, said, signal)
    this.#records.reported(id)
  }
}

const nameOf = (epoch: number | null): string => (epoch === null ? 'the proof of its recipe' : `restart ${epoch}`)

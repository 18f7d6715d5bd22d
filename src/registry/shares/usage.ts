import { Problem } from '../../errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { Sweeper } from '../../lib/sweeper.ts'
import type { Logger } from '../../logger.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import type { Caller } from '../callers/caller.ts'
import { limitFor } from './shares.ts'
import { type AgentUsage, addUsage, readAgentUsage, readProjectUsage } from './usage-store.ts'

/** How long what was stored is kept in memory before it is written: a crash forgets so much at the most. */
const writeMs = 2_000
/** How often what is known of an agent or a project is read again: retention gives back, other gateways add. */
const readMs = 60_000
/** What one may wait for, once retention runs. */
const retrySeconds = 60
/** How many agents and projects are remembered. */
const knownMax = 50_000

/** What a row costs beside what it says: its ids, its indices, the mail and the events that go with it. */
export const rowBytes = 1_024

/** What a value takes in the store, as JSON. */
export function bytesOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
}

interface Known {
  /** In the store, when it was read last. */
  bytes: number
  readAt: number
  reading: Promise<void> | undefined
}

interface UsageContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
}

/**
 * What agents and projects have stored, in bytes. A write adds to a number in memory, which goes to the store every two seconds,
 * for all of them in one statement: storing costs no query. Gateways of one store learn of each other within a minute.
 */
export class Usage extends Sweeper {
  readonly #context: UsageContext
  readonly #agents = new Map<string, Known>()
  readonly #projects = new Map<string, Known>()
  readonly #unwritten = new Map<string, { projectId: string; bytes: number }>()

  constructor(context: UsageContext) {
    const { clock, log } = context
    super({ clock, everyMs: writeMs, firstAfterMs: writeMs, failed: (err) => log.error({ err }, 'usage.write_failed') })
    this.#context = context
  }

  /**
   * Throws `quota-exceeded` for an agent that has stored what it may, or whose project has. The operator may store more. What is
   * not known yet is read behind the answer: the first requests after a start are taken.
   */
  requireRoom(caller: Caller): void {
    if (caller.kind === 'operator') return
    const { id, identity, projectId } = caller
    const ofAgent = this.#known(this.#agents, id, () => readAgentUsage(this.#context.db, id))
    const ofProject = this.#known(this.#projects, projectId, () => readProjectUsage(this.#context.db, projectId))
    const agentMax = limitFor(caller, 'bytesStored')
    if (agentMax !== 0 && ofAgent >= agentMax) throw full(identity, 'bytesStored', agentMax)
    const projectMax = limitFor(caller, 'projectBytesStored')
    if (projectMax !== 0 && ofProject >= projectMax)
      throw full(`Project ${projectId}`, 'projectBytesStored', projectMax)
  }

  /** Counts what a caller stores, when it is stored. */
  add(tx: Transaction, caller: Pick<Caller, 'kind' | 'id' | 'projectId'>, bytes: number): void {
    if (caller.kind === 'operator') return
    tx.onCommit(() => this.#add(caller, bytes))
  }

  /** Writes what was counted. Returns how many agents it concerned. */
  async runOnce(): Promise<number> {
    const added: AgentUsage[] = [...this.#unwritten].map(([agentId, rest]) => ({ agentId, ...rest }))
    if (added.length === 0) return 0
    this.#unwritten.clear()
    try {
      const now = await this.#context.db.transaction((tx) => addUsage(tx, added))
      for (const [agentId, bytes] of now) {
        const known = this.#agents.get(agentId)
        // What was stored meanwhile is still to be written.
        if (known) known.bytes = bytes + (this.#unwritten.get(agentId)?.bytes ?? 0)
      }
    } catch (error) {
      for (const { agentId, projectId, bytes } of added) this.#keep(agentId, projectId, bytes)
      throw error
    }
    return added.length
  }

  override async stop(): Promise<void> {
    await super.stop()
    await this.runOnce().catch((err: unknown) => this.#context.log.error({ err }, 'usage.write_failed'))
  }

  protected async sweep(): Promise<boolean> {
    await this.runOnce()
    return false
  }

  #add({ id, projectId }: Pick<Caller, 'id' | 'projectId'>, bytes: number): void {
    this.#keep(id, projectId, bytes)
    for (const known of [this.#agents.get(id), this.#projects.get(projectId)]) if (known) known.bytes += bytes
  }

  #keep(agentId: string, projectId: string, bytes: number): void {
    const unwritten = this.#unwritten.get(agentId)
    if (unwritten) unwritten.bytes += bytes
    else this.#unwritten.set(agentId, { projectId, bytes })
  }

  /** What is known now; where that is nothing, or old, it is read meanwhile. */
  #known(all: Map<string, Known>, id: string, read: () => Promise<number>): number {
    const now = this.#context.clock.now()
    let known = all.get(id)
    if (!known) {
      if (all.size >= knownMax) all.clear()
      known = { bytes: 0, readAt: Number.NEGATIVE_INFINITY, reading: undefined }
      all.set(id, known)
    }
    if (now - known.readAt >= readMs || now < known.readAt) this.#readAgain(known, now, read)
    return known.bytes
  }

  #readAgain(known: Known, now: number, read: () => Promise<number>): void {
    known.reading ??= this.runOnce()
      .then(read)
      .then((bytes) => {
        known.bytes = bytes
        known.readAt = now
      })
      .catch((err: unknown) => this.#context.log.warn({ err }, 'usage.read_failed'))
      .finally(() => {
        known.reading = undefined
      })
  }
}

function full(who: string, limitName: 'bytesStored' | 'projectBytesStored', limit: number): Problem {
  return new Problem('quota-exceeded', {
    detail: `${who} has stored ${limit} bytes or more (${limitName}). Reading, answering and deleting work. Mail is removed when its retention is over; the operator may raise ${limitName} for the project: PATCH /v1/projects/{project}.`,
    extra: { limit, limitName, retryAfterSeconds: retrySeconds },
  })
}

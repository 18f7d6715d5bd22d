import { Problem } from '../errors.ts'
import { WriteBehind } from '../lib/write-behind.ts'
import type { Base } from '../log/core.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitFor, projectLimitFor } from '../registry/callers/caller-limits.ts'
import type { Transaction } from '../storage/database.ts'
import { type AgentUsage, addUsage, readAgentUsage, readProjectUsage } from './usage-store.ts'

/** How long counts stay in memory before they are written. A crash loses at most this much. */
const writeMs = 2_000
/** How old the count of an agent or a project may be before it is read again: retention subtracts, other gateways add. */
const readMs = 60_000
/** Until retention may have removed something. */
const retrySeconds = 60
/** How many agents and projects are kept in memory. */
const knownMax = 50_000

/** Bytes that a row takes beside its content: ids, indices, its mail and its events. */
export const rowBytes = 1_024

/** Returns the bytes of a value as JSON; 0 for undefined. */
export function bytesOf(value: unknown): number {
  return value === undefined ? 0 : Buffer.byteLength(JSON.stringify(value))
}

interface UsageCount {
  /** As the store had it at `readAt`, and what was added since. */
  bytes: number
  readAt: number
  reading: Promise<void> | undefined
}

/**
 * Counts the bytes that agents and projects have stored. A write adds to a number in memory; the numbers go to the store every
 * two seconds, all in one statement, so that storing costs no extra query. Gateways of one store see each other's counts within
 * a minute.
 */
export class Usage implements AsyncDisposable {
  readonly #context: Base
  readonly #writer: WriteBehind
  readonly #agents = new Map<string, UsageCount>()
  readonly #projects = new Map<string, UsageCount>()
  readonly #unwritten = new Map<string, { projectId: string; bytes: number }>()

  constructor(context: Base) {
    this.#context = context
    const failed = (err: unknown) => context.log.error({ err }, 'usage.write_failed')
    this.#writer = new WriteBehind({ clock: context.clock, write: () => this.#write(), retryMs: writeMs, failed })
  }

  /**
   * Throws `quota-exceeded` when the agent or its project has stored as much as it may. Operators have no quota. A count that is
   * not known yet is read in the background: the first requests after a start are accepted.
   */
  requireRoom(caller: Caller): void {
    if (caller.kind === 'operator') return
    const { id, identity, projectId } = caller
    const ofAgent = this.#known(this.#agents, id, () => readAgentUsage(this.#context.db, id))
    const ofProject = this.#known(this.#projects, projectId, () => readProjectUsage(this.#context.db, projectId))
    const agentMax = limitFor(caller, 'bytesStored')
    if (agentMax !== 0 && ofAgent >= agentMax) throw full(identity, agentMax)
    const projectMax = projectLimitFor(caller, 'bytesStored')
    if (projectMax !== 0 && ofProject >= projectMax) throw full(`Project ${projectId}`, projectMax)
  }

  /** Counts the bytes that a caller stores, once its transaction commits. */
  add(tx: Transaction, caller: Pick<Caller, 'kind' | 'id' | 'projectId'>, bytes: number): void {
    if (caller.kind === 'operator') return
    tx.onCommit(() => this.#add(caller, bytes))
  }

  /** Writes what waits, once. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#writer[Symbol.asyncDispose]()
  }

  async #write(): Promise<void> {
    const added: AgentUsage[] = [...this.#unwritten].map(([agentId, rest]) => ({ agentId, ...rest }))
    if (added.length === 0) return
    this.#unwritten.clear()
    try {
      const now = await this.#context.db.transaction((tx) => addUsage(tx, added))
      for (const [agentId, bytes] of now) {
        const known = this.#agents.get(agentId)
        // Bytes that were added meanwhile are not written yet.
        if (known) known.bytes = bytes + (this.#unwritten.get(agentId)?.bytes ?? 0)
      }
    } catch (error) {
      for (const { agentId, projectId, bytes } of added) this.#keep(agentId, projectId, bytes)
      throw error
    }
  }

  #add({ id, projectId }: Pick<Caller, 'id' | 'projectId'>, bytes: number): void {
    this.#keep(id, projectId, bytes)
    for (const known of [this.#agents.get(id), this.#projects.get(projectId)]) if (known) known.bytes += bytes
  }

  #keep(agentId: string, projectId: string, bytes: number): void {
    const unwritten = this.#unwritten.get(agentId)
    if (unwritten) unwritten.bytes += bytes
    else this.#unwritten.set(agentId, { projectId, bytes })
    this.#writer.schedule(writeMs)
  }

  /** Returns the count in memory. Reads it in the background when it is missing or old. */
  #known(all: Map<string, UsageCount>, id: string, read: () => Promise<number>): number {
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

  #readAgain(known: UsageCount, now: number, read: () => Promise<number>): void {
    known.reading ??= this.#writer
      .flush()
      .then(async (isWritten) => {
        if (!isWritten) return
        known.bytes = await read()
        known.readAt = now
      })
      .catch((err: unknown) => this.#context.log.warn({ err }, 'usage.read_failed'))
      .finally(() => {
        known.reading = undefined
      })
  }
}

function full(who: string, limit: number): Problem {
  return new Problem('quota-exceeded', {
    detail: `${who} has stored ${limit} bytes or more (bytesStored). Reading, answering and deleting work.`,
    remedy: 'wait-for-retention',
    extra: { limit, limitName: 'bytesStored', retryAfterSeconds: retrySeconds },
  })
}

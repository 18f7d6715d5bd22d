import type { Clock } from '../lib/clock.ts'
import { ulidSequence } from '../lib/ids.ts'
import { auditLimits } from '../limits.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../storage/database.ts'
import { writeAudit } from './audit-store.ts'
import type { AuditEntry, AuditRecord } from './entry.ts'
import { printable } from './printable.ts'
import { RefusedAttempts } from './refused-attempts.ts'

/** How long an entry waits for others before they are written together. */
const batchMs = 100
/** How long the counts of refused attempts gather, and how long a store that failed is left alone. */
const againMs = 1_000
/** How many records the log takes over at a stop. */
const loggedMax = 100

interface AuditContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Keeps who did what. `keep` is durable when it resolves; `note` returns at once and is written with others soon; `refuse`
 * counts what comes again and again. What waits is bounded: when the store takes nothing for long, the oldest is given up,
 * and the audit says how much.
 */
export class Audit implements AsyncDisposable {
  readonly #context: AuditContext
  readonly #newId = ulidSequence()
  readonly #refused = new RefusedAttempts()
  #waiting: AuditRecord[] = []
  #lost = 0
  #cancel: (() => void) | undefined
  #dueAt = 0
  #writing = Promise.resolve()
  #isClosed = false

  constructor(context: AuditContext) {
    this.#context = context
  }

  /** Resolves when the entry is durable. Rejects with `storage-unavailable`; then the log has it. */
  async keep(entry: AuditEntry): Promise<void> {
    const record = this.#recordOf(entry)
    try {
      await this.#context.db.transaction((tx) => writeAudit(tx, [record]))
    } catch (error) {
      this.#context.log.error({ err: error, audit: record }, 'audit.unwritten')
      throw error
    }
  }

  /** Takes an entry that is written with others, 100 ms later at the most. */
  note(entry: AuditEntry): void {
    if (this.#waiting.length >= auditLimits.waiting.max) {
      this.#waiting.shift()
      this.#lost += 1
    }
    this.#waiting.push(this.#recordOf(entry))
    this.#writeAfter(batchMs)
  }

  /** Counts an attempt that was refused: one record for all that are alike within a minute. */
  refuse(entry: AuditEntry): void {
    const isFirst = this.#refused.add(entry, this.#context.clock.now(), (kept) => this.#recordOf(kept))
    this.#writeAfter(isFirst ? batchMs : againMs)
  }

  /** Writes what waits. Resolves when it is durable, or when the store has refused it. */
  flush(): Promise<void> {
    this.#cancel?.()
    this.#cancel = undefined
    this.#writing = this.#writing.then(() => this.#write())
    return this.#writing
  }

  /** Writes what waits, once. What the store refuses now is in the log. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    return this.flush()
  }

  #recordOf(entry: AuditEntry): AuditRecord {
    const at = this.#context.clock.now()
    const { project, actor, callerId, keyId, front, operation, outcome } = entry
    const address = printable(entry.address, auditLimits.target.max)
    const target = printable(entry.target, auditLimits.target.max)
    const id = this.#newId(at)
    return { id, at, lastAt: at, count: 1, project, actor, callerId, keyId, address, front, operation, target, outcome }
  }

  #writeAfter(delayMs: number): void {
    if (this.#isClosed) return
    const { clock } = this.#context
    const dueAt = clock.now() + delayMs
    if (this.#cancel) {
      if (this.#dueAt <= dueAt) return
      this.#cancel()
    }
    this.#dueAt = dueAt
    this.#cancel = clock.after(delayMs, () => void this.flush())
  }

  async #write(): Promise<void> {
    const { db, log } = this.#context
    const records = this.#waiting
    const refused = this.#refused.take(this.#context.clock.now())
    const lost = this.#lost
    if (records.length + refused.length + lost === 0) return
    this.#waiting = []
    this.#lost = 0
    const all = [...records, ...refused, ...(lost > 0 ? [{ ...this.#recordOf(gap), count: lost }] : [])]
    try {
      await db.transaction((tx) => writeAudit(tx, all))
    } catch (error) {
      log.warn({ err: error, records: all.length }, 'audit.write_failed')
      if (this.#isClosed) log.error({ audit: all.slice(0, loggedMax), records: all.length }, 'audit.unwritten')
      this.#putBack(records, lost)
      this.#refused.putBack(refused)
      this.#writeAfter(againMs)
    }
  }

  #putBack(records: readonly AuditRecord[], lost: number): void {
    const all = [...records, ...this.#waiting]
    const surplus = Math.max(0, all.length - auditLimits.waiting.max)
    this.#waiting = all.slice(surplus)
    this.#lost += lost + surplus
  }
}

/** Stands for records that could not be kept: its count says how many. */
const gap: AuditEntry = {
  project: '',
  actor: '@gateway',
  callerId: '',
  keyId: '',
  address: '',
  front: 'gateway',
  operation: 'audit.lost',
  target: '',
  outcome: 'storage-unavailable',
}

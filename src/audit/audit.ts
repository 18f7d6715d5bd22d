import { Problem } from '../errors.ts'
import { ulidSequence } from '../lib/ids.ts'
import { WriteBehind } from '../lib/write-behind.ts'
import type { Base } from '../log/core.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import type { Database } from '../storage/database.ts'
import { writeAudit } from './audit-store.ts'
import type { AuditEntry, AuditRecord } from './entry.ts'
import { printable } from './printable.ts'
import { RefusedAttempts } from './refused-attempts.ts'

/** How many transactions one call begins at most. It finds one bad record among 10,000 with 28. */
const triesMax = 100

/** The characters of an address and of a target in a record. */
export const targetMax = 200
/** Records that wait while the store accepts no writes; the oldest are dropped first. */
const waitingMax = 10_000

/** How long an entry waits for others, so that one transaction writes many. */
const batchMs = 100
/** How long refused attempts are counted before they are written, and the wait after a failed write. */
const retryMs = 1_000
/** How many unwritten records go to the program's log at once. */
const loggedMax = 100

/**
 * Records who did what. `keep` resolves when the entry is durable; `note` returns at once and the entry is written soon, with
 * others; `refuse` counts repeated refused attempts. The number of waiting records is bounded: when the store accepts nothing
 * for long, the oldest ones are dropped and counted. So is a record that the store refuses while it accepts others.
 */
export class Audit implements AsyncDisposable {
  readonly #context: Base
  readonly #newId = ulidSequence()
  readonly #refused = new RefusedAttempts()
  readonly #writer: WriteBehind
  #waiting: AuditRecord[] = []
  #lost = 0

  constructor(context: Base) {
    this.#context = context
    const failed = (err: unknown) => context.log.warn({ err }, 'audit.write_failed')
    this.#writer = new WriteBehind({ clock: context.clock, write: () => this.#write(), retryMs, failed })
  }

  /** Resolves when the entry is durable. Rejects with `storage-unavailable`; then the program's log has it. */
  async keep(entry: AuditEntry): Promise<void> {
    const record = this.#recordOf(entry)
    try {
      await this.#context.db.transaction((tx) => writeAudit(tx, [record]))
    } catch (error) {
      this.#context.log.error({ err: error, audit: record }, 'audit.unwritten')
      throw error
    }
  }

  /** Takes an entry that is written together with others, after at most 100 ms. */
  note(entry: AuditEntry): void {
    if (this.#waiting.length >= waitingMax) {
      this.#waiting.shift()
      this.#lost += 1
    }
    this.#waiting.push(this.#recordOf(entry))
    this.#writer.schedule(batchMs)
  }

  /** Counts a refused attempt: like attempts within a minute share one record. */
  refuse(entry: AuditEntry): void {
    const isFirst = this.#refused.add(entry, this.#context.clock.now(), (kept) => this.#recordOf(kept))
    this.#writer.schedule(isFirst ? batchMs : retryMs)
  }

  /** Writes what waits. Resolves when it is durable, or when the store has refused it. */
  async flush(): Promise<void> {
    await this.#writer.flush()
  }

  /** Writes what waits, once. The program's log gets what the store refuses now. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#writer[Symbol.asyncDispose]()
  }

  #recordOf(entry: AuditEntry): AuditRecord {
    const at = this.#context.clock.now()
    const { project, actor, callerId, keyId, front, operation, outcome } = entry
    const address = printable(entry.address, targetMax)
    const target = printable(entry.target, targetMax)
    const id = this.#newId(at)
    return { id, at, lastAt: at, count: 1, project, actor, callerId, keyId, address, front, operation, target, outcome }
  }

  async #write(): Promise<void> {
    const waiting = this.#waiting
    const attempts = this.#refused.take(this.#context.clock.now())
    const lost = this.#lost
    const all = [...waiting, ...attempts]
    if (lost > 0) all.push({ ...this.#recordOf(gap), count: lost })
    if (all.length === 0) return
    this.#waiting = []
    this.#lost = 0
    const { refused, left, error } = await storeRecords(this.#context.db, all)
    if (refused.length > 0) this.#drop(refused, error)
    if (left.length === 0) return
    if (this.#writer.isClosed) this.#logUnwritten(left, error)
    const isAttempt = new Set(attempts)
    const isGap = ({ operation }: AuditRecord): boolean => operation === gap.operation
    const others = left.filter((record) => !isAttempt.has(record))
    this.#putBack(
      others.filter((record) => !isGap(record)),
      others.some(isGap) ? lost : 0,
    )
    this.#refused.putBack(left.filter((record) => isAttempt.has(record)))
    throw error
  }

  /** Leaves out what the store will never accept: the program's log has it, and the audit counts it. */
  #drop(records: readonly AuditRecord[], error: unknown): void {
    this.#logUnwritten(records, error)
    this.#lost += records.reduce((sum, { count }) => sum + count, 0)
    this.#writer.schedule(batchMs)
  }

  #logUnwritten(records: readonly AuditRecord[], error: unknown): void {
    const audit = records.slice(0, loggedMax)
    this.#context.log.error({ err: error, audit, records: records.length }, 'audit.unwritten')
  }

  #putBack(records: readonly AuditRecord[], lost: number): void {
    const all = [...records, ...this.#waiting]
    const surplus = Math.max(0, all.length - waitingMax)
    this.#waiting = all.slice(surplus)
    this.#lost += lost + surplus
  }
}

/** The entry in place of dropped records. Its count says how many there were. */
const gap: AuditEntry = {
  project: '',
  actor: gatewayIdentity,
  callerId: '',
  keyId: '',
  address: '',
  front: 'gateway',
  operation: 'audit.lost',
  target: '',
  outcome: 'storage-unavailable',
}

interface Storing {
  /** Records that the store refuses each by itself, while it accepts others. */
  readonly refused: readonly AuditRecord[]
  /** Records that are to be stored later. */
  readonly left: readonly AuditRecord[]
  /** The last error. undefined: everything is stored. */
  readonly error: unknown
}

/**
 * Stores records in one transaction. When the store refuses it, the halves are stored, and the halves of those: a record that cannot
 * be stored holds up no other. During an outage, or when the store accepts none of them, all that are not stored are left for later.
 */
async function storeRecords(db: Database, records: readonly AuditRecord[]): Promise<Storing> {
  const untried: (readonly AuditRecord[])[] = [records]
  const refused: AuditRecord[] = []
  let error: unknown
  for (let tries = 0; tries < triesMax && !isOutage(error); tries++) {
    const some = untried.pop()
    if (!some) break
    try {
      await db.transaction((tx) => writeAudit(tx, some))
    } catch (failure) {
      error = failure
      const half = some.length >> 1
      if (isOutage(failure)) untried.push(some)
      else if (half === 0) refused.push(...some)
      else untried.push(some.slice(half), some.slice(0, half))
    }
  }
  const left = untried.reverse().flat()
  const acceptsNone = left.length + refused.length === records.length
  // The others come first the next time, so that any number of bad ones is passed in the end.
  return acceptsNone ? { refused: [], left: [...left, ...refused], error } : { refused, left, error }
}

function isOutage(error: unknown): boolean {
  return error instanceof Problem && error.code === 'storage-unavailable'
}

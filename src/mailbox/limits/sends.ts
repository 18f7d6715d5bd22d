import type { Core } from '../../log/core.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Receivers, SendLimits, TakeSend } from '../../registry/mail/send-limits.ts'
import { atLast, type Transaction } from '../../storage/database.ts'
import { pipelined } from '../../storage/pipelined.ts'
import type { MailContext } from '../context.ts'
import { type Bucket, fill, isRefused, levelAt, waitMs } from './bucket.ts'
import { fillBuckets, readBuckets, recordRefusal } from './bucket-store.ts'
import { type Charge, chargesOf } from './mail-limits.ts'
import { RefusedSend } from './refusal.ts'

/** How many buckets a gateway remembers. It reads the others when it needs them. */
const bucketsMax = 50_000

/**
 * The limits of messages. A message is counted in the store, in its own transaction and together with those that share its commit; the
 * statement returns what all gateways have counted. So a message that is accepted costs no query of its own, and one that is refused none
 * at all: this gateway decides by what it has read. Several gateways may accept a few too many at the same moment, which all wait for then.
 */
export class Sends implements SendLimits {
  readonly #context: Core & Pick<MailContext, 'limits'>
  readonly #buckets = new Map<string, Bucket>()

  constructor(context: Core & Pick<MailContext, 'limits'>) {
    this.#context = context
  }

  check(caller: Caller, receivers?: Receivers): void {
    const charges = chargesOf(caller, this.#context.limits, receivers)
    this.#refuse(caller, charges, receivers, this.#context.clock.now())
  }

  async run<T>(caller: Caller, work: (take: TakeSend) => Promise<T>): Promise<T> {
    let taken: { bucket: Bucket; paidMs: number }[] = []
    const take: TakeSend = async (tx, receivers) => {
      const charges = chargesOf(caller, this.#context.limits, receivers)
      await this.#read(tx, charges)
      if (taken.length === 0) {
        this.#refuse(caller, charges, receivers, tx.now)
        taken = charges.map((charge) => {
          const bucket = this.#bucketOf(charge.id)
          return { bucket, paidMs: fill(bucket, charge, tx.now) }
        })
      }
      for (const charge of charges) tx.beforeCommit(this.#count, charge)
    }
    try {
      return await work(take)
    } catch (error) {
      for (const { bucket, paidMs } of taken) bucket.levelMs -= paidMs
      if (error instanceof RefusedSend) await this.#record(caller, error)
      throw error
    }
  }

  #refuse(caller: Caller, charges: readonly Charge[], receivers: Receivers | undefined, now: number): void {
    for (const charge of charges) {
      const bucket = this.#buckets.get(charge.id)
      const wait = bucket ? waitMs(bucket, charge, now) : 0
      if (!bucket || wait === 0) continue
      const isFirst = !isRefused(bucket, charge.windowMs, now)
      if (isFirst) bucket.refusedAt = now
      throw new RefusedSend(charge, caller, receivers ?? {}, wait, isFirst)
    }
  }

  /** Reads the buckets that this gateway does not know. */
  async #read(tx: Transaction, charges: readonly Charge[]): Promise<void> {
    const unknown = charges.map(({ id }) => id).filter((id) => !this.#buckets.has(id))
    if (unknown.length === 0) return
    const found = new Map((await readBuckets(tx, unknown)).map(({ id, ...bucket }) => [id, bucket]))
    for (const id of unknown) if (!this.#buckets.has(id)) this.#remember(id, found.get(id) ?? emptyBucket())
  }

  // Under the lock of the log, as the last statement: no two gateways wait for each other.
  readonly #count = atLast(async (tx: Transaction, charges: readonly Charge[]) =>
    pipelined(
      fillBuckets(tx, charges).then((rows) => {
        for (const { id, ...stored } of rows) {
          const known = this.#bucketOf(id)
          known.levelMs = Math.max(levelAt(known, tx.now), levelAt(stored, tx.now))
          known.countedAt = Math.max(tx.now, stored.countedAt)
          if (stored.refusedAt <= tx.now) known.refusedAt = Math.max(known.refusedAt, stored.refusedAt)
        }
      }),
    ),
  )

  /** The event of the first refusal of a window. */
  async #record({ projectId }: Caller, { charge, event }: RefusedSend): Promise<void> {
    if (!event) return
    const { db, append, log } = this.#context
    const recorded = db.transaction(async (tx) => {
      if (await recordRefusal(tx, charge)) await append(tx, projectId, [event])
    })
    await recorded.catch((err) => log.error({ err }, 'send_refusal.write_failed'))
  }

  #bucketOf(id: string): Bucket {
    return this.#buckets.get(id) ?? this.#remember(id, emptyBucket())
  }

  #remember(id: string, bucket: Bucket): Bucket {
    if (this.#buckets.size >= bucketsMax) this.#buckets.delete(this.#buckets.keys().next().value!)
    this.#buckets.set(id, bucket)
    return bucket
  }
}

const emptyBucket = (): Bucket => ({ levelMs: 0, countedAt: 0, lastSender: '', refusedAt: 0 })

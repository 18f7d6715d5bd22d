import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import type { Attempt } from '../channel.ts'
import type { RunEnd } from '../commit/end-runs.ts'
import type { EventWriter } from '../commit/event-writer.ts'
import type { Emission } from '../content/emission.ts'
import { saveDelivered } from '../store/delivery-store.ts'
import { type Advance, advanceCursors, type Lease, type Progress } from '../store/lease-store.ts'

interface Sent {
  readonly emission: Emission
  readonly attempts: readonly Attempt[]
  /** Up to this one and no further: what is sent while the record waits for its turn is not part of it. */
  readonly progress: Progress
}

/** What is to be written for one lease. */
interface Noted {
  readonly sent: Sent[]
  /** Set where its run ends with that. */
  ending?: { readonly subscription: Subscription; resolve(end: RunEnd): void }
}

type Batch = Map<Lease, Noted>

/** Hears, in the transaction that records them, of wakes that were acknowledged. */
export type OnDelivered = (
  tx: Transaction,
  wakes: readonly { readonly audience: string; readonly emission: Emission }[],
) => Promise<void>

/**
 * Records deliveries behind the senders: a run sends its next event while the last one's record waits for its group.
 * Whatever is not yet recorded when the process dies is sent again, under the same `eventId`. What the store refuses is
 * kept, and written with whatever is written next.
 */
export class Recorder {
  readonly #db: Database
  readonly #journal: Pick<EventWriter, 'endRun'>
  readonly #noteTold: OnDelivered
  #waiting: Batch = new Map()
  #writing: Batch = new Map()
  /** The write that is under way, and the one behind it, which takes all that waits by then. */
  #current: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(db: Database, journal: Pick<EventWriter, 'endRun'>, noteTold: OnDelivered = async () => {}) {
    this.#db = db
    this.#journal = journal
    this.#noteTold = noteTold
  }

  /** Notes a delivery. `lease.progress` must already include it. */
  delivered(lease: Lease, emission: Emission, attempts: readonly Attempt[]): void {
    this.#noted(lease).sent.push({ emission, attempts, progress: lease.progress })
    // A refusal is resolve to whoever settles the lease.
    this.#write().catch(() => {})
  }

  /**
   * Ends a lease that has nothing more before it, in the transaction that writes what waits to be written for it. Rejects when
   * the store refuses: then nothing has ended.
   */
  async end(lease: Lease, subscription: Subscription): Promise<RunEnd> {
    let end: RunEnd | undefined
    const resolve = (what: RunEnd): void => {
      end = what
    }
    this.#noted(lease).ending = { subscription, resolve }
    await this.#write()
    return end ?? { continues: false, dueAt: undefined }
  }

  /** How many deliveries of a lease are not on disk yet. */
  backlog(lease: Lease): number {
    return (this.#waiting.get(lease)?.sent.length ?? 0) + (this.#writing.get(lease)?.sent.length ?? 0)
  }

  /** Resolves when every delivery of this lease is on disk, however busy the others are. Rejects when the store refused. */
  async settled(lease: Lease): Promise<void> {
    for (;;) {
      if (this.#writing.has(lease)) await this.#current
      else if (this.#waiting.has(lease)) await this.#write()
      else return
    }
  }

  #noted(lease: Lease): Noted {
    const known = this.#waiting.get(lease) ?? { sent: [] }
    this.#waiting.set(lease, known)
    return known
  }

  #write(): Promise<void> {
    this.#next ??= this.#writeAfter(this.#current)
    return this.#next
  }

  async #writeAfter(before: Promise<void>): Promise<void> {
    await before.catch(() => {})
    // Every run that finishes in this turn joins, or takes its record along with its release.
    await new Promise(setImmediate)
    this.#current = this.#next ?? this.#current
    this.#next = undefined
    this.#writing = this.#waiting
    this.#waiting = new Map()
    try {
      await this.#record(this.#writing)
    } catch (error) {
      for (const [lease, { sent }] of this.#writing) if (sent.length > 0) this.#noted(lease).sent.unshift(...sent)
      throw error
    } finally {
      this.#writing = new Map()
    }
  }

  #record(batch: Batch): Promise<void> {
    return this.#db.transaction(async (tx) => {
      const advances: (Advance & { lease: Lease })[] = []
      for (const [lease, { sent, ending }] of batch) {
        if (ending) this.#journal.endRun(tx, { lease: lease, ...ending })
        else
          advances.push({
            lease,
            subscriptionId: lease.subscriptionId,
            owner: lease.owner,
            progress: sent.at(-1)!.progress,
          })
      }
      const [held] = await Promise.all([advanceCursors(tx, advances), this.#saveAll(tx, batch)])
      const lost = advances.filter((advance) => !held.has(advance))
      tx.onCommit(() => {
        for (const { lease } of lost) lease.lost = true
      })
    })
  }

  async #saveAll(tx: Transaction, batch: Batch): Promise<void> {
    const delivered = [...batch].flatMap(([{ subscriptionId, audience }, { sent }]) =>
      sent.map(({ emission, attempts }) => ({ subscriptionId, audience, emission, attempts })),
    )
    await Promise.all([saveDelivered(tx, delivered), this.#noteTold(tx, delivered)])
  }
}

import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import type { Attempt } from '../channel.ts'
import type { EventWriter } from '../commit/event-writer.ts'
import type { EndingRun, RunEnd, RunEnds } from '../commit/run-end.ts'
import type { Emission } from '../content/emission.ts'
import { type Arrival, saveArrived } from '../store/delivery-store.ts'
import { KeptCounts } from '../store/kept-counts.ts'
import type { Lease, Progress } from '../store/lease.ts'
import { type Advance, advanceCursors, followArrivals } from '../store/lease-progress.ts'

/** An emission that has arrived, as far as its channel can know. */
interface ArrivalRecord {
  readonly outcome: Arrival
  readonly emission: Emission
  readonly attempts: readonly Attempt[]
  /** The progress of the lease with this record: later ones may arrive before this one is written. */
  readonly progress: Progress
}

/** The records to write for one lease. */
interface Entry {
  readonly arrived: ArrivalRecord[]
  /** Set when the run ends with it. */
  ending?: Subscription
}

type Batch = Map<Lease, Entry>

/** Called in the transaction that records wakes that their receivers took, with whose they are. */
export type OnDelivered = (
  tx: Transaction,
  wakes: readonly { readonly subscriptionId: string; readonly audience: string; readonly emission: Emission }[],
) => Promise<void>

/**
 * Records deliveries in the background: a run sends its next event while the record of the last one waits for its group.
 * Deliveries that are not recorded when the process dies are sent again, under the same `eventId`. Those that the store refuses
 * are kept, and written with the next ones.
 */
export class Recorder {
  readonly #db: Database
  readonly #writer: Pick<EventWriter, 'endRuns'>
  readonly #onDelivered: OnDelivered
  readonly #kept: KeptCounts
  #waiting: Batch = new Map()
  #writing: Batch = new Map()
  /** The write that is under way, and the next one, which takes everything that waits by then. */
  #current: Promise<unknown> = Promise.resolve()
  #next: Promise<RunEnds> | undefined
  #hasRefused = false

  constructor(
    db: Database,
    writer: Pick<EventWriter, 'endRuns'>,
    onDelivered: OnDelivered = async () => {},
    kept = new KeptCounts(),
  ) {
    this.#db = db
    this.#writer = writer
    this.#onDelivered = onDelivered
    this.#kept = kept
  }

  /** Takes a delivery to be written. `lease.progress` must already include it. */
  arrived(lease: Lease, emission: Emission, attempts: readonly Attempt[], outcome: Arrival): void {
    this.counted(lease.subscriptionId)
    this.#entry(lease).arrived.push({ outcome, emission, attempts, progress: lease.progress })
    this.#write()
  }

  /**
   * Ends a run that knows of nothing more to send, in the transaction that writes what waits for its lease. Returns what that
   * transaction decided. Rejects when the store refuses: then nothing has ended.
   */
  async end(lease: Lease, subscription: Subscription): Promise<RunEnd> {
    this.#entry(lease).ending = subscription
    const ends = await this.#write()
    return ends.get(lease)!
  }

  /** Counts a delivery of a subscription that is recorded, here or elsewhere. */
  counted(subscriptionId: string): void {
    this.#kept.add(subscriptionId)
  }

  /** How many deliveries of a lease are not on disk yet. */
  backlog(lease: Lease): number {
    return (this.#waiting.get(lease)?.arrived.length ?? 0) + (this.#writing.get(lease)?.arrived.length ?? 0)
  }

  /** Resolves when every delivery of this lease is on disk, however busy other leases are. Rejects when the store refuses. */
  async settled(lease: Lease): Promise<void> {
    for (;;) {
      if (this.#writing.has(lease)) await this.#current
      else if (this.#waiting.has(lease)) await this.#write()
      else return
    }
  }

  /** Writes what the store has refused, before a lease reads where its subscription is. Rejects when the store refuses it again. */
  async retried(): Promise<void> {
    if (this.#hasRefused) await this.#write()
  }

  #entry(lease: Lease): Entry {
    const known = this.#waiting.get(lease)
    if (known) return known
    const entry: Entry = { arrived: [] }
    this.#waiting.set(lease, entry)
    return entry
  }

  #write(): Promise<RunEnds> {
    if (this.#next) return this.#next
    this.#next = this.#writeAfter(this.#current)
    // settled() and end() reject with it.
    this.#next.catch(() => {})
    return this.#next
  }

  async #writeAfter(before: Promise<unknown>): Promise<RunEnds> {
    await before.catch(() => {})
    // Every run that finishes in this iteration of the event loop joins, or ends with its record.
    await new Promise(setImmediate)
    this.#current = this.#next ?? this.#current
    this.#next = undefined
    this.#writing = this.#waiting
    this.#waiting = new Map()
    try {
      const ends = await this.#record(this.#writing)
      this.#hasRefused = false
      return ends
    } catch (error) {
      this.#hasRefused = true
      for (const [lease, { arrived }] of this.#writing) {
        if (arrived.length > 0) this.#entry(lease).arrived.unshift(...arrived)
      }
      throw error
    } finally {
      this.#writing = new Map()
    }
  }

  async #record(batch: Batch): Promise<RunEnds> {
    const { advances, endings } = split(batch)
    const { held, ends } = await this.#db.transaction(async (tx) => {
      const ends = this.#writer.endRuns(tx, endings)
      const [held] = await Promise.all([advanceCursors(tx, advances), this.#save(tx, batch)])
      return { held, ends }
    })
    for (const advance of advances) if (!held.has(advance)) advance.lease.lose()
    for (const [lease, { end }] of ends) if (end === 'lost') lease.lose()
    const lost = [...batch].flatMap(([lease, { arrived }]) =>
      lease.isLost ? arrived.slice(-1).map(({ progress }) => ({ lease, progress })) : [],
    )
    if (lost.length > 0) await this.#db.transaction((tx) => followArrivals(tx, lost))
    return ends
  }

  async #save(tx: Transaction, batch: Batch): Promise<void> {
    const wakes = [...batch].flatMap(([{ subscriptionId, audience }, { arrived }]) =>
      arrived.map(({ emission, attempts, outcome }) => ({ subscriptionId, audience, emission, attempts, outcome })),
    )
    const delivered = wakes.filter(({ outcome }) => outcome === 'delivered')
    await Promise.all([saveArrived(tx, wakes), this.#onDelivered(tx, delivered)])
  }
}

/** A run that ends writes its progress with its end. */
function split(batch: Batch): { advances: (Advance & { readonly lease: Lease })[]; endings: EndingRun[] } {
  const advances: (Advance & { readonly lease: Lease })[] = []
  const endings: EndingRun[] = []
  for (const [lease, { arrived, ending }] of batch) {
    const { subscriptionId, owner } = lease
    if (ending) endings.push({ lease, subscription: ending })
    else advances.push({ lease, subscriptionId, owner, progress: arrived.at(-1)!.progress })
  }
  return { advances, endings }
}

import type { Database, Transaction } from '../storage/database.ts'
import type { Attempt } from './channel.ts'
import { saveDelivered } from './delivery-store.ts'
import type { Emission } from './emission.ts'
import { advanceCursors, type Progress } from './lease-store.ts'

/** A claim being worked on: whose it is, how far it has come, whether it was lost. */
export interface Claim {
  readonly subscriptionId: string
  readonly owner: string
  progress: Progress
  lost: boolean
}

interface Sent {
  readonly emission: Emission
  readonly attempts: readonly Attempt[]
  /** Up to this one and no further: what is sent while the record waits for its turn is not part of it. */
  readonly progress: Progress
}

type Batch = Map<Claim, Sent[]>

/** Hears, in the transaction that records them, of wakes that were acknowledged. */
export type NoteTold = (
  tx: Transaction,
  wakes: readonly { readonly subscriptionId: string; readonly emission: Emission }[],
) => Promise<void>

/** Deliveries on their way into somebody else's transaction. */
export interface Recording {
  write(tx: Transaction): Promise<void>
  putBack(): void
}

/**
 * Records deliveries behind the senders: a run sends its next event while the last one's record waits for its group.
 * Whatever is not yet recorded when the process dies is sent again, under the same `eventId`. What the store refuses is
 * kept, and written with whatever is written next.
 */
export class Recorder {
  readonly #db: Database
  readonly #noteTold: NoteTold
  #waiting: Batch = new Map()
  #writing: Batch = new Map()
  /** The write that is under way, and the one behind it, which takes all that waits by then. */
  #current: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(db: Database, noteTold: NoteTold = async () => {}) {
    this.#db = db
    this.#noteTold = noteTold
  }

  /** Notes a delivery. `claim.progress` must already include it. */
  delivered(claim: Claim, emission: Emission, attempts: readonly Attempt[]): void {
    const sent = this.#waiting.get(claim) ?? []
    sent.push({ emission, attempts, progress: claim.progress })
    this.#waiting.set(claim, sent)
    // A refusal is told to whoever settles the claim.
    this.#write().catch(() => {})
  }

  /**
   * Takes what waits to be written for a claim, for a transaction that writes it itself; `putBack` if that failed. Waits for
   * what is being written, and rejects when the store refuses that: a claim must not end before its records are kept.
   */
  async take(claim: Claim): Promise<Recording> {
    while (this.#writing.has(claim)) await this.#current
    const sent = this.#waiting.get(claim) ?? []
    this.#waiting.delete(claim)
    return {
      write: (tx) => this.#saveAll(tx, new Map([[claim, sent]])),
      putBack: () => {
        if (sent.length > 0) this.#waiting.set(claim, [...sent, ...(this.#waiting.get(claim) ?? [])])
      },
    }
  }

  /** How many deliveries of a claim are not on disk yet. */
  backlog(claim: Claim): number {
    return (this.#waiting.get(claim)?.length ?? 0) + (this.#writing.get(claim)?.length ?? 0)
  }

  /** Resolves when every delivery of this claim is on disk, however busy the others are. Rejects when the store refused. */
  async settled(claim: Claim): Promise<void> {
    for (;;) {
      if (this.#writing.has(claim)) await this.#current
      else if (this.#waiting.has(claim)) await this.#write()
      else return
    }
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
      for (const [claim, sent] of this.#writing)
        this.#waiting.set(claim, [...sent, ...(this.#waiting.get(claim) ?? [])])
      throw error
    } finally {
      this.#writing = new Map()
    }
  }

  #record(batch: Batch): Promise<void> {
    return this.#db.transaction(async (tx) => {
      const advances = [...batch].map(([claim, sent]) => {
        const { subscriptionId, owner } = claim
        return { claim, subscriptionId, owner, progress: sent.at(-1)!.progress }
      })
      const [held] = await Promise.all([advanceCursors(tx, advances), this.#saveAll(tx, batch)])
      for (const advance of advances) if (!held.has(advance)) advance.claim.lost = true
    })
  }

  async #saveAll(tx: Transaction, batch: Batch): Promise<void> {
    const delivered = [...batch].flatMap(([{ subscriptionId }, sent]) =>
      sent.map(({ emission, attempts }) => ({ subscriptionId, emission, attempts })),
    )
    await Promise.all([saveDelivered(tx, delivered), this.#noteTold(tx, delivered)])
  }
}

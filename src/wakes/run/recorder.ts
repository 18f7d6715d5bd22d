import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import type { Attempt } from '../channel.ts'
import type { End } from '../commit/end-runs.ts'
import type { Journal } from '../commit/event-writer.ts'
import type { Emission } from '../content/emission.ts'
import { saveDelivered } from '../store/delivery-store.ts'
import { type Advance, advanceCursors, type Claim, type Progress } from '../store/lease-store.ts'

interface Sent {
  readonly emission: Emission
  readonly attempts: readonly Attempt[]
  /** Up to this one and no further: what is sent while the record waits for its turn is not part of it. */
  readonly progress: Progress
}

/** What is to be written for one claim. */
interface Noted {
  readonly sent: Sent[]
  /** Set where its run ends with that. */
  ending?: { readonly subscription: Subscription; told(end: End): void }
}

type Batch = Map<Claim, Noted>

/** Hears, in the transaction that records them, of wakes that were acknowledged. */
export type NoteTold = (
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
  readonly #journal: Pick<Journal, 'giveBack'>
  readonly #noteTold: NoteTold
  #waiting: Batch = new Map()
  #writing: Batch = new Map()
  /** The write that is under way, and the one behind it, which takes all that waits by then. */
  #current: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(db: Database, journal: Pick<Journal, 'giveBack'>, noteTold: NoteTold = async () => {}) {
    this.#db = db
    this.#journal = journal
    this.#noteTold = noteTold
  }

  /** Notes a delivery. `claim.progress` must already include it. */
  delivered(claim: Claim, emission: Emission, attempts: readonly Attempt[]): void {
    this.#noted(claim).sent.push({ emission, attempts, progress: claim.progress })
    // A refusal is told to whoever settles the claim.
    this.#write().catch(() => {})
  }

  /**
   * Ends a claim that has nothing more before it, in the transaction that writes what waits to be written for it. Rejects when
   * the store refuses: then nothing has ended.
   */
  async end(claim: Claim, subscription: Subscription): Promise<End> {
    let end: End | undefined
    const told = (what: End): void => {
      end = what
    }
    this.#noted(claim).ending = { subscription, told }
    await this.#write()
    return end ?? { goesOn: false, dueAt: undefined }
  }

  /** How many deliveries of a claim are not on disk yet. */
  backlog(claim: Claim): number {
    return (this.#waiting.get(claim)?.sent.length ?? 0) + (this.#writing.get(claim)?.sent.length ?? 0)
  }

  /** Resolves when every delivery of this claim is on disk, however busy the others are. Rejects when the store refused. */
  async settled(claim: Claim): Promise<void> {
    for (;;) {
      if (this.#writing.has(claim)) await this.#current
      else if (this.#waiting.has(claim)) await this.#write()
      else return
    }
  }

  #noted(claim: Claim): Noted {
    const known = this.#waiting.get(claim) ?? { sent: [] }
    this.#waiting.set(claim, known)
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
      for (const [claim, { sent }] of this.#writing) if (sent.length > 0) this.#noted(claim).sent.unshift(...sent)
      throw error
    } finally {
      this.#writing = new Map()
    }
  }

  #record(batch: Batch): Promise<void> {
    return this.#db.transaction(async (tx) => {
      const advances: (Advance & { claim: Claim })[] = []
      for (const [claim, { sent, ending }] of batch) {
        if (ending) this.#journal.giveBack(tx, { claim, ...ending })
        else
          advances.push({
            claim,
            subscriptionId: claim.subscriptionId,
            owner: claim.owner,
            progress: sent.at(-1)!.progress,
          })
      }
      const [held] = await Promise.all([advanceCursors(tx, advances), this.#saveAll(tx, batch)])
      const lost = advances.filter((advance) => !held.has(advance))
      tx.onCommit(() => {
        for (const { claim } of lost) claim.lost = true
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

import type { Database } from '../storage/database.ts'
import type { Attempt } from './channel.ts'
import { saveDelivery } from './delivery-store.ts'
import type { Emission } from './emission.ts'
import { advanceCursor, type Progress } from './lease-store.ts'

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
}

/**
 * Records deliveries behind the senders: a run sends its next event while the last one's record waits for its group.
 * Whatever is not yet recorded when the process dies is sent again, under the same `eventId`.
 */
export class Recorder {
  readonly #db: Database
  #waiting = new Map<Claim, Sent[]>()
  #flushing: Promise<void> | undefined

  constructor(db: Database) {
    this.#db = db
  }

  /** Notes a delivery. `claim.progress` must already include it. */
  delivered(claim: Claim, emission: Emission, attempts: readonly Attempt[]): void {
    const sent = this.#waiting.get(claim) ?? []
    sent.push({ emission, attempts })
    this.#waiting.set(claim, sent)
    this.#flushing ??= this.#flush()
  }

  /** How many deliveries of a claim are not on disk yet. */
  backlog(claim: Claim): number {
    return this.#waiting.get(claim)?.length ?? 0
  }

  /** Resolves when everything noted so far is on disk. Rejects when the store refused it. */
  async settled(): Promise<void> {
    while (this.#flushing) await this.#flushing
  }

  async #flush(): Promise<void> {
    await Promise.resolve() // lets every run that finished in this turn join
    try {
      while (this.#waiting.size > 0) {
        const batch = this.#waiting
        this.#waiting = new Map()
        await this.#write(batch)
      }
    } finally {
      this.#flushing = undefined
    }
  }

  #write(batch: ReadonlyMap<Claim, readonly Sent[]>): Promise<void> {
    return this.#db.transaction(async (tx) => {
      for (const [claim, sent] of batch) {
        const held = await advanceCursor(tx, claim.subscriptionId, claim.owner, claim.progress)
        if (!held) claim.lost = true
        for (const { emission, attempts } of sent) {
          await saveDelivery(tx, claim.subscriptionId, emission, attempts, 'delivered', null)
        }
      }
    })
  }
}

import type { StreamCapability } from '../registry/subscriptions/stream-capabilities.ts'
import type { SignedWake } from '../wakes/channel.ts'
import type { WakeStep } from '../wakes/rules/wake-history.ts'
import type { DeliveryOutcome } from '../wakes/store/delivery-store.ts'

/** The outcome of a wake, by its reader's receipt; `written`: no more will be known. */
export interface Receipt {
  readonly outcome: 'delivered' | 'written' | 'failed' | 'retry'
}

/** Called with a step of a wake, and with what the wake is after it. */
export type Hear = (said: WakeStep, outcome: DeliveryOutcome) => void

/** A connected reader. */
export interface StreamReader {
  /** Writes a wake. Where a reader gives no receipts, resolves with whether its connection took the bytes. */
  write(eventId: string, wake: SignedWake): Promise<boolean> | undefined
  /** Reports that a subscription is no longer sent for on this stream, and why. */
  release(subscriptionId: string, reason: ReleaseReason): void
  /** Ends the stream. */
  end(): void
}

/** `replaced`: a newer stream has the subscription. `changed`: it goes elsewhere, was removed, or is no longer the reader's. */
type ReleaseReason = 'replaced' | 'changed'

/** A receipt may come while no run waits for it: the wake was written to an earlier stream, or its run has ended and the next is to begin. */
const earlyMax = 200

/** Far more than its subscriptions have in flight. A stream whose reader reports nothing is ended there, because open wakes are made again. */
const openMax = 5_000

/** One open stream: the wakes that were written to it and have no receipt yet. */
export class WakeStream {
  readonly id: string
  readonly callerId: string
  readonly subscriptionIds: Set<string>
  readonly #reader: StreamReader
  /** The capabilities of its reader. */
  readonly capabilities: readonly StreamCapability[]
  readonly #open = new Map<
    string,
    {
      readonly receipt: Promise<Receipt | 'closed'>
      settle(receipt: Receipt | 'closed'): void
      readonly hear?: Hear
      isAwaited: boolean
    }
  >()
  readonly #early = new Map<string, Receipt>()
  #isClosed = false

  constructor(
    id: string,
    callerId: string,
    subscriptionIds: readonly string[],
    reader: StreamReader,
    capabilities: readonly StreamCapability[] = [],
  ) {
    this.id = id
    this.callerId = callerId
    this.subscriptionIds = new Set(subscriptionIds)
    this.#reader = reader
    this.capabilities = capabilities
  }

  /**
   * Writes a wake, unless it is on the stream already, and resolves with its receipt, however long that takes; with `closed` when
   * the stream ends first. `hear`: of a wake without a record, called with each step that its reader reports.
   */
  send(eventId: string, sign: () => SignedWake, hear?: Hear): Promise<Receipt | 'closed'> {
    if (this.#isClosed) return Promise.resolve('closed')
    const known = this.#open.get(eventId)
    if (known) {
      known.isAwaited = true
      return known.receipt
    }
    const early = this.#early.get(eventId)
    if (early) {
      this.#early.delete(eventId)
      return Promise.resolve(early)
    }
    let settle: (receipt: Receipt | 'closed') => void = () => {}
    const receipt = new Promise<Receipt | 'closed'>((resolve) => {
      settle = resolve
    })
    const taken = this.#reader.write(eventId, sign())
    this.#open.set(eventId, { receipt, settle, isAwaited: true, ...(hear ? { hear } : {}) })
    void taken?.then((isTaken) => isTaken && this.report(eventId, { outcome: 'written' }))
    if (this.#open.size > openMax) this.#reader.end()
    return receipt
  }

  /** True when a wake is on the stream and has no receipt yet. */
  isOpen(eventId: string): boolean {
    return this.#open.has(eventId)
  }

  /** Takes the receipt of a wake. After it the wake may be written again. False: no run waits for it yet. */
  report(eventId: string, receipt: Receipt): boolean {
    const open = this.#open.get(eventId)
    this.#open.delete(eventId)
    open?.settle(receipt)
    if (open?.isAwaited) return true
    this.#early.set(eventId, receipt)
    if (this.#early.size > earlyMax) this.#early.delete(this.#early.keys().next().value!)
    return false
  }

  /** No run waits for the receipt of a wake any more. A receipt that comes before the next run is kept for it, and the wake is not written again. */
  leave(eventId: string): void {
    const open = this.#open.get(eventId)
    if (open) open.isAwaited = false
  }

  /** Passes a step of a wake on to who waits for it. It may end the wait with `report`. */
  hear(eventId: string, said: WakeStep, outcome: DeliveryOutcome): void {
    this.#open.get(eventId)?.hear?.(said, outcome)
  }

  /** Waits for no receipt of a wake any more. */
  forget(eventId: string): void {
    this.#open.delete(eventId)
  }

  /** Stops sending for a subscription. The stream ends with its last one. */
  release(subscriptionId: string, reason: ReleaseReason): void {
    if (!this.subscriptionIds.delete(subscriptionId)) return
    this.#reader.release(subscriptionId, reason)
    if (this.subscriptionIds.size === 0) this.#reader.end()
  }

  /** Ends the stream: its reader connects again. */
  end(): void {
    this.#reader.end()
  }

  /** Nothing is written any more, and no receipt is waited for. */
  close(): void {
    this.#isClosed = true
    for (const { settle } of this.#open.values()) settle('closed')
    this.#open.clear()
  }
}

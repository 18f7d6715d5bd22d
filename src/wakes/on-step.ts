import type { Transaction } from '../storage/database.ts'
import type { WakeStep } from './rules/wake-history.ts'
import type { DeliveryOutcome } from './store/delivery-store.ts'

/** A step of a wake that is stronger than what was known of it. */
export interface StepOfWake {
  readonly eventId: string
  /** The id of the agent whose mail it is about. */
  readonly audience: string
  readonly messageIds: readonly string[]
  readonly said: WakeStep
  readonly outcome: DeliveryOutcome
  /** True when the senders of the mail are to be notified. */
  readonly isShownToSender: boolean
}

/** Called in the transaction that records a step, for wakes that are about mail. */
export type OnStep = (tx: Transaction, step: StepOfWake) => Promise<void>

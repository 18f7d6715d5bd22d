import { meaningOf, type ReceiptStep } from '../../words/receipts.ts'
import type { DeliveryOutcome } from '../store/delivery-store.ts'

/** True when the senders of the mail in a wake are notified of a step: that it is held, that a turn began, or an end that is no delivery. Pure. */
export function isShownToSender(step: ReceiptStep, outcome: DeliveryOutcome): boolean {
  if (step === 'held' || step === 'turn_started') return true
  if (step === 'written') return outcome === 'written'
  const meaning = meaningOf(step)
  return outcome === 'failed' && (meaning === 'failed' || meaning === 'unfit')
}

/** True when a step proves that the harness began to work on a wake. Only the recipient itself reports that it has seen a message. Source: D11. */
export function provesTurn(step: ReceiptStep): boolean {
  return step === 'turn_started' || step === 'seen' || step === 'acked' || step === 'resolved'
}

import type { DeliveryOutcome } from '../store/delivery-store.ts'
import { bridgeHarnesses } from './bridge-harnesses.ts'
import { meaningOf, type ReceiptStep } from './receipts.ts'

/**
 * What a peer may read of a `source`: its first word, if it is one of these. What comes after it is the reader's own, and may name a
 * path or an address.
 */
const sourceKinds = ['bridge', 'hook', 'listen', ...bridgeHarnesses] as const
type SourceKind = (typeof sourceKinds)[number] | 'reader'

/** What a peer may read of a `detail`: its first word, if it is one of these reasons. */
const reasons = [
  'presence_unknown',
  'cannot_start_turn',
  'turn_active',
  'waiting_on_approval',
  'user_typing',
  'no_session',
  'too_many_turns',
] as const
export type Reason = (typeof reasons)[number]

/** Returns what proved a step, as a peer may know it. Pure. */
export function sourceKind(source: string | null): SourceKind {
  const [word] = /^[a-z]+/.exec(source ?? '') ?? []
  return sourceKinds.find((kind) => kind === word) ?? 'reader'
}

/** Returns the reason that a detail begins with, as a peer may know it; undefined: it is for the recipient alone. Pure. */
export function reasonIn(detail: string | null): Reason | undefined {
  const [word] = /^[a-z_]+/.exec(detail ?? '') ?? []
  return reasons.find((reason) => reason === word)
}

/** Whether the senders of the mail in a wake are notified of a step: that it is held, that a turn began, or an end that is no delivery. Pure. */
export function isShownToSender(step: ReceiptStep, outcome: DeliveryOutcome): boolean {
  if (step === 'held' || step === 'turn_started') return true
  if (step === 'written') return outcome === 'written'
  const meaning = meaningOf(step)
  return outcome === 'failed' && (meaning === 'failed' || meaning === 'unfit')
}

/** Whether a step proves that the harness began to work on a wake. Only the recipient itself says that it has seen a message. Source: D11. */
export function provesTurn(step: ReceiptStep): boolean {
  return step === 'turn_started' || step === 'seen' || step === 'acked' || step === 'resolved'
}

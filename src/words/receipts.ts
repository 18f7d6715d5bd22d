/** The reports of the reader of a stream about a wake, the weakest first, then the ends. A receipt never reports more than was proven. */
export const receiptSteps = [
  'accepted',
  'routed',
  'written',
  'held',
  'delivered',
  'turn_started',
  'seen',
  'acked',
  'resolved',
  'denied',
  'refused',
  'expired',
  'misaddressed',
  'dropped',
  'unknown',
  'failed',
] as const
export type ReceiptStep = (typeof receiptSteps)[number]

/**
 * The meaning of a step for its wake. `open`: nothing is decided. `delivered`: the cursor passes it. `failed`: it is tried again, and
 * counts against the receiver. `unfit`: it has failed, and proves nothing about the receiver.
 */
type Meaning = 'open' | 'delivered' | 'failed' | 'unfit'

const meanings: Readonly<Record<ReceiptStep, Meaning>> = {
  accepted: 'open',
  routed: 'open',
  written: 'open',
  held: 'open',
  delivered: 'delivered',
  turn_started: 'delivered',
  seen: 'delivered',
  acked: 'delivered',
  resolved: 'delivered',
  denied: 'unfit',
  refused: 'unfit',
  expired: 'unfit',
  misaddressed: 'unfit',
  dropped: 'unfit',
  // It is not known if it arrived: to send it again might start a second turn.
  unknown: 'unfit',
  failed: 'failed',
}

export const meaningOf = (step: ReceiptStep): Meaning => meanings[step]

/** Returns the step to keep of two: the later one in the list. An end stands. */
export function higherStep(known: ReceiptStep | null, reported: ReceiptStep): ReceiptStep {
  if (known === null) return reported
  return receiptSteps.indexOf(reported) > receiptSteps.indexOf(known) ? reported : known
}

/** True when a step proves that bytes, or more, have arrived. Pure. */
export function isArrival(step: ReceiptStep | null | undefined): boolean {
  return step !== null && step !== undefined && (step === 'written' || meaningOf(step) === 'delivered')
}

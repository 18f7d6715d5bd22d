import type { ReceiptStep } from '../../words/receipts.ts'
import { sourceKind } from '../../words/sender-view.ts'
import type { AdapterId } from '../adapter.ts'
import type { OutgoingReceipt } from './receipt-outbox.ts'

/** A step of a wake, as the bridge says it. */
export interface Said {
  readonly step: ReceiptStep
  readonly detail: string
  readonly by?: AdapterId | undefined
  /** Nothing more will be known. */
  readonly isEnd?: true
}

const proofs: ReadonlySet<ReceiptStep> = new Set([
  'accepted',
  'routed',
  'written',
  'delivered',
  'turn_started',
  'seen',
  'acked',
])

/** Returns the receipt of a step: what happened has its proof as the source, what did not happen only its reason. `now`: ms since the epoch. Pure. */
export function receiptOf(eventId: string, { step, detail, by, isEnd }: Said, now: number): OutgoingReceipt {
  // The senders read the first word, where they may: of an adapter that they do not know, that it was the bridge.
  const way = by === undefined || sourceKind(by) === by ? by : `bridge: ${by}`
  const proof = way === undefined ? detail : `${way}: ${detail}`
  const source = proofs.has(step) ? proof : way
  const final = isEnd && step === 'written' ? { isFinal: true as const } : {}
  return {
    eventId,
    step,
    at: new Date(now).toISOString(),
    detail,
    ...(source === undefined ? {} : { source }),
    ...final,
  }
}

import type { StepOfWake } from '../wakes/on-step.ts'
import type { DeliveryAfter } from '../wakes/rules/after-receipt.ts'
import { isShownToSender } from '../wakes/rules/sender-view.ts'
import { stepsAfter, type WakeHistory, type WakeStep } from '../wakes/rules/wake-history.ts'
import type { ReportedDelivery } from '../wakes/store/receipt-store.ts'
import type { ReceiptStep } from '../words/receipts.ts'
import type { Receipt } from './wake-stream.ts'

/** A receipt as it is kept. `now`: ms since the epoch. Pure. */
export function sayingOf(
  reportedBy: string,
  {
    step,
    source,
    detail,
  }: { readonly step: ReceiptStep; readonly source?: string | undefined; readonly detail?: string | undefined },
  now: number,
): WakeStep {
  return { step, source: source ?? null, reportedBy, at: new Date(now).toISOString(), detail: detail ?? null }
}

/**
 * Returns the history of a wake after a step. `news`: the step is stronger than all earlier ones, so it is recorded with the mail of the
 * wake, and the senders get one event. Pure.
 */
export function noted(
  { eventId, audience, history, step, outcome }: ReportedDelivery,
  after: DeliveryAfter,
  said: WakeStep,
): { readonly history: WakeHistory; readonly news?: StepOfWake } {
  const { messageIds, told } = history
  const isNews = after.step === said.step && (after.step !== step || after.outcome !== outcome)
  const isNotifiedNow = isNews && isShownToSender(said.step, after.outcome) && !told.includes(said.step)
  const kept = {
    messageIds,
    steps: stepsAfter(history.steps, said, after.step),
    told: isNotifiedNow ? [...told, said.step] : told,
  }
  if (!isNews || messageIds.length === 0) return { history: kept }
  return {
    history: kept,
    news: { eventId, audience, messageIds, said, outcome: after.outcome, isShownToSender: isNotifiedNow },
  }
}

/** Returns the receipt for the run that waits for a wake. Undefined: nothing was decided. Pure. */
export function receiptOf(
  before: Pick<ReportedDelivery, 'outcome' | 'attempts'>,
  after: Pick<ReportedDelivery, 'outcome' | 'attempts'>,
): Receipt | undefined {
  if (before.outcome !== 'pending' || after.attempts === before.attempts) return undefined
  if (after.outcome === 'pending') return { outcome: 'retry' }
  return { outcome: after.outcome === 'delivered' || after.outcome === 'written' ? after.outcome : 'failed' }
}

import { higherStep, meaningOf, type ReceiptStep } from '../../words/receipts.ts'
import type { Attempt } from '../channel.ts'
import type { Delivery } from '../store/delivery-store.ts'
import { retryDelayMs, trimmed } from './retry-schedule.ts'

/** The report of a reader about a wake. */
interface ReportedStep {
  readonly step: ReceiptStep
  readonly detail?: string | undefined
  /** Of `written`: its reader will never know more. */
  readonly isFinal?: boolean | undefined
}

/** The facts that decide about a receipt. Instants in ms since the epoch. */
interface ReceiptContext {
  readonly now: number
  readonly retryForSeconds?: number | undefined
  /** In [0, 1). */
  readonly random: () => number
}

/** The part of a delivery that a receipt changes. */
export type DeliveryAfter = Pick<Delivery, 'outcome' | 'step' | 'attempts' | 'nextAttemptAt'>

/** Returns a delivery after a receipt. One that is decided, or whose next try is due later, only keeps a higher step. Pure. */
export function afterReceipt(
  delivery: Pick<Delivery, 'outcome' | 'step' | 'attempts' | 'nextAttemptAt' | 'updatedAt'>,
  { step, detail, isFinal }: ReportedStep,
  { now, retryForSeconds, random }: ReceiptContext,
): DeliveryAfter {
  const { outcome, attempts, nextAttemptAt, updatedAt } = delivery
  const kept = { outcome, attempts, nextAttemptAt, step: higherStep(delivery.step, step) }
  const meaning = meaningOf(step)
  if (outcome !== 'pending') return meaning === 'delivered' ? kept : { ...kept, step: delivery.step }
  if (meaning === 'open' && !isFinal) return kept
  if (meaning === 'failed' && nextAttemptAt !== null && nextAttemptAt > now) return { ...kept, step: delivery.step }
  const attempt: Attempt = {
    at: new Date(now).toISOString(),
    status: null,
    durationMs: Math.max(0, now - updatedAt),
    error: meaning === 'delivered' || meaning === 'open' ? null : step,
    ...(detail ? { response: detail } : {}),
  }
  const made = trimmed([...attempts, attempt])
  const decided = { step, attempts: made, nextAttemptAt: null }
  if (meaning === 'open') return { ...decided, outcome: 'written' }
  if (meaning === 'delivered') return { ...decided, outcome: 'delivered' }
  if (meaning === 'unfit') return { ...decided, outcome: 'failed' }
  const firstAt = Date.parse(made[0]!.at)
  const delayMs = retryDelayMs({ attempt: made.length, firstAt, now, retryForSeconds, random })
  if (delayMs === undefined) return { ...decided, outcome: 'failed' }
  // A later step of the next try is higher than none.
  return { outcome: 'pending', step: null, attempts: made, nextAttemptAt: now + delayMs }
}

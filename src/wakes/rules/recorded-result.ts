import { meaningOf } from '../../words/receipts.ts'
import type { DeliveryResult } from '../channel.ts'
import type { Delivery } from '../store/delivery-store.ts'

/** Returns the result of an emission whose outcome is on record: it was decided while no run waited for it. Pure. */
export function resultOf({ outcome, attempts, step }: Pick<Delivery, 'outcome' | 'attempts' | 'step'>): DeliveryResult {
  if (outcome === 'delivered' || outcome === 'written') return { outcome, reason: null, attempts }
  return {
    outcome: 'failed',
    reason: step ?? 'failed',
    attempts,
    isOfEvent: step !== null && meaningOf(step) === 'unfit',
  }
}

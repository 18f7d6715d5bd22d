import type { LogEvent } from '../../log/event.ts'
import type { Delivery } from '../store/delivery-store.ts'
import type { HandedOver } from './handed-over.ts'

/**
 * Whether a wake that arrived has an event whose message another route has delivered too (`handed`). A digest leaves out what its agent
 * has in hand when it is made. Pure.
 */
export function wasSentIn(
  { fromLogId, toLogId, outcome, attempts, createdAt }: Delivery,
  { logId }: LogEvent,
  handed: HandedOver | undefined,
): boolean {
  if (logId < fromLogId || logId > toLogId || (outcome !== 'delivered' && outcome !== 'written')) return false
  if (fromLogId === toLogId) return true
  if (!handed) return false
  const madeAt = attempts[0] ? Date.parse(attempts[0].at) : createdAt
  return madeAt < handed.at || (handed.lostAt !== null && madeAt >= handed.lostAt)
}

import { isoTime } from '../../lib/iso-time.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import { listDeliveries } from '../../wakes/store/delivery-store.ts'
import { type CallbackFault, callbackFaultOf } from '../../words/mcp-events.ts'

/** How the deliveries of a subscription go, as its client may know it. Source: SEP-3415, delivery status. */
export interface DeliveryStatus {
  readonly active: boolean
  /** ISO 8601; null: none has arrived, as far as it is kept. */
  readonly lastDeliveryAt: string | null
  /** Of the newest delivery, if that has not arrived. */
  readonly lastError: CallbackFault | null
}

const newestMax = 20

export async function deliveryStatusOf(db: Reader, { id, status }: WakeSubscription): Promise<DeliveryStatus> {
  const deliveries = await listDeliveries(db, id, '', newestMax)
  const arrived = deliveries.find(({ outcome }) => outcome === 'delivered')
  const [newest] = deliveries
  const last = newest?.outcome === 'delivered' ? undefined : newest?.attempts.at(-1)
  return {
    active: status === 'active',
    lastDeliveryAt: arrived ? isoTime(arrived.updatedAt) : null,
    lastError: last ? callbackFaultOf(last) : null,
  }
}

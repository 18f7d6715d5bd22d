import type { DeliveryStatus } from './frames.ts'

/** What may follow: the receipts of one message come on connections of their own, in any order. Source: Qwen's cross-session protocol, §5. */
const next = {
  pending: ['held', 'delivered', 'denied', 'refused', 'expired', 'misaddressed', 'dropped'],
  held: ['delivered', 'denied', 'expired', 'misaddressed'],
  delivered: ['expired', 'misaddressed'],
  denied: [],
  refused: [],
  expired: [],
  misaddressed: [],
  dropped: [],
} as const satisfies Record<DeliveryStatus | 'pending', readonly DeliveryStatus[]>

export type MessageState = keyof typeof next

/** Returns the state after a receipt; undefined: it is a repeat, and says nothing. Pure. */
export function stateAfter(state: MessageState, status: DeliveryStatus): DeliveryStatus | undefined {
  return (next[state] as readonly DeliveryStatus[]).includes(status) ? status : undefined
}

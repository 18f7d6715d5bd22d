import type { Core } from '../log/core.ts'
import type { Reader } from '../storage/database.ts'
import type { Reason } from '../turns/facts.ts'

export interface RecoveryContext extends Core {
  /** Why anything may be done for an agent: its unread mail and its open tasks; null: nothing waits. */
  readonly findReason: (db: Reader, agentId: string) => Promise<Reason | null>
  /** Notifies the engine that a subscription has changed. */
  readonly changed: (subscriptionId: string) => void
}

import type { Core } from '../core.ts'
import type { Announce } from '../registry/mail/announcement.ts'
import type { Transaction } from '../storage/database.ts'

export interface SessionContext extends Core {
  /** How long a session may be silent. */
  readonly timeoutMs: number
  /** Hands over the mail that waits for an agent, within the transaction that starts its session. Source: S2-11. */
  readonly drain: (tx: Transaction, agentId: string, sessionId: string) => Promise<readonly object[]>
  /** Puts a signal into mailboxes, within the transaction of what happened. Called last. */
  readonly announce: Announce
  /** Tells the engine that a subscription has changed. */
  readonly changed: (subscriptionId: string) => void
}

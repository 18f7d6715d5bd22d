import type { AppendEvents } from '../log/append.ts'
import type { Announce } from '../registry/mail/announcement.ts'
import type { Database, Transaction } from '../storage/database.ts'

export interface SessionContext {
  readonly db: Database
  readonly append: AppendEvents
  /** How long a session may be silent. */
  readonly timeoutMs: number
  /** Hands over the mail that waits for an agent, within the transaction that starts its session. Source: S2-11. */
  readonly drain: (tx: Transaction, agentId: string, sessionId: string) => Promise<readonly object[]>
  /** Puts a signal into mailboxes, within the transaction of what happened. Called last. */
  readonly announce: Announce
  /** Tells the dispatcher that a subscription is not what it was. */
  readonly changed: (subscriptionId: string) => void
}

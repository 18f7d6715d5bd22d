import type { SilenceJudge } from '../lib/own-clock.ts'
import type { Core } from '../log/core.ts'
import type { Announce } from '../registry/mail/announcement.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import type { PendingSignal } from '../words/mail.ts'

export interface SessionContext extends Core, SilenceJudge {
  /** How long a session may be silent. */
  readonly timeoutMs: number
  /** Returns the mail that waits for an agent and marks it as delivered, in the transaction that starts its session. Source: S2-11. */
  readonly drain: (tx: Transaction, agentId: string, sessionId: string) => Promise<readonly PendingSignal[]>
  /** True when unread mail or open tasks wait for an agent. */
  readonly hasWaiting: (db: Reader, agentId: string) => Promise<boolean>
  /** Puts a signal into mailboxes, in the transaction of the change that it announces. Called last. */
  readonly announce: Announce
  /** Notifies the engine that a subscription has changed. */
  readonly changed: (subscriptionId: string) => void
}

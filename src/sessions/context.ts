import type { JsonObject } from '../lib/json.ts'
import type { AppendEvents } from '../log/append.ts'
import type { Database, Transaction } from '../storage/database.ts'

/** What the gateway tells of sessions: to one agent, or to everybody of a project who is there. Payloads as S2-7 has them. */
export interface SessionAnnouncement {
  readonly projectId: string
  readonly signalType: 'PeerJoined' | 'PeerLeft' | 'MasterPreempted'
  readonly payload: JsonObject
  readonly toAgentId: string
  readonly exceptAgentId?: string
}

export interface SessionContext {
  readonly db: Database
  readonly append: AppendEvents
  /** How long a session may be silent. */
  readonly timeoutMs: number
  /** Hands over the mail that waits for an agent, within the transaction that starts its session. Source: S2-11. */
  readonly drain: (tx: Transaction, agentId: string, sessionId: string) => Promise<readonly object[]>
  /** Puts a signal into mailboxes, within the transaction of what happened. Called last. */
  readonly announce: (tx: Transaction, announcement: SessionAnnouncement) => Promise<void>
  /** Tells the dispatcher that a subscription is not what it was. */
  readonly changed: (subscriptionId: string) => void
}

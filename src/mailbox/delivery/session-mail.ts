import { messageIdFloor } from '../../lib/ids.ts'
import { identityOf } from '../../registry/agents/identity.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import type { PendingSignal } from '../../words/mail.ts'
import { type MessageRow, messageColumns, messageFromRow } from '../messages/message-store.ts'
import { isToSession } from '../messages/to-session.ts'
import { pendingSignal } from './pending-signal.ts'

/** A session that a newer one has preempted. `endedAt`: ms since the epoch. */
export interface PreemptedSession {
  readonly id: string
  readonly endedAt: number
}

/**
 * Takes the mail that is addressed to a preempted session of an agent, and marks it as delivered by an answer to that session:
 * once, however many calls race. Source: D26, S2-7.
 */
export async function takeSessionMail(
  db: Database,
  agentId: string,
  { id: sessionId, endedAt }: PreemptedSession,
): Promise<PendingSignal[]> {
  const found = await db.get(ofSession, {
    agentId,
    sessionId,
    since: messageIdFloor(endedAt),
    until: messageIdFloor(endedAt + 1),
  })
  if (!found || found.deliveredAt !== null) return []
  const { deliveredAt: _, ...row } = found
  const identity = await identityOf(db, agentId)
  return db.transaction(async (tx) => {
    const isFirst = await recordTaken(tx, agentId, row.id)
    return isFirst ? [pendingSignal({ ...messageFromRow(row), from: null }, identity, tx.now)] : []
  })
}

async function recordTaken(tx: Transaction, agentId: string, messageId: string): Promise<boolean> {
  return (await tx.run(take, { agentId, messageId, now: tx.now })) > 0
}

// The signal was sent in the transaction that ended the session: only the mail of that instant is read.
const ofSession = statement<
  { agentId: string; sessionId: string; since: string; until: string },
  MessageRow & { deliveredAt: number | null }
>(sql`select ${messageColumns}, r.delivered_at as "deliveredAt" from message m join (
    select message_id, delivered_at from message_recipient
    where agent_id = ${p('agentId')} and ${isToSession} and message_id >= ${p('since')}
      and message_id < ${p('until')} and session_id = ${p('sessionId')}
    order by message_id limit 1) r on r.message_id = m.id`)
// The guard makes two calls at the same time get it once.
const take = statement<{ agentId: string; messageId: string; now: number }>(sql`update message_recipient
  set receipt = 'written', delivered_at = ${p('now')}, delivery_method = 'piggyback'
  where agent_id = ${p('agentId')} and message_id = ${p('messageId')} and delivered_at is null`)

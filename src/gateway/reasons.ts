import type { GateContext } from '../recovery/change-gate.ts'
import type { Reader } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import { listOpenTasks } from '../tasks/open-tasks.ts'
import { findTasks } from '../tasks/task-store.ts'
import type { Reason } from '../turns/facts.ts'

interface UnreadMessage {
  readonly id: string
  readonly senderId: string
  readonly createdAt: number
}

const lookMax = 200
const sendersMax = 20
const wanted = statement<{ agentId: string; limit: number }, UnreadMessage>(
  sql`select m.id, m.sender_id as "senderId", m.created_at as "createdAt" from message_recipient r join message m on m.id = r.message_id
    where r.agent_id = ${p('agentId')} and r.status = 'sent' and m.wake_policy = 'immediate'
      and (r.signal_type is null or r.signal_type <> 'MasterPreempted')
    order by r.agent_id desc, r.message_id desc ${limited}`,
)
const oldest = statement<{ agentId: string; limit: number }, { createdAt: number }>(
  sql`select m.created_at as "createdAt" from message_recipient r join message m on m.id = r.message_id
    where r.agent_id = ${p('agentId')} and r.status = 'sent' and m.wake_policy = 'immediate'
      and (r.signal_type is null or r.signal_type <> 'MasterPreempted')
    order by r.agent_id, r.message_id ${limited}`,
)
const acknowledged = statement<{ projectId: string; messageId: string }, { agentId: string; at: number | null }>(
  sql`select r.agent_id as "agentId", r.acked_at as "at" from message m join message_recipient r on r.message_id = m.id
    where m.id = ${p('messageId')} and m.project_id = ${p('projectId')} and m.sender_id = 'operator'
      and m.wake_policy = 'immediate' and m.subject like 'Wake test %' limit 2`,
)

/**
 * Returns why anything may be done for an agent: unread mail that may wake it, and the tasks that it has to work on; of each the newest few
 * hundred. The key changes when something new waits, and not when time passes. Source: S3-4.
 */
export async function findReason(db: Reader, agentId: string): Promise<Reason | null> {
  const [unread, first, taskIds] = await Promise.all([
    db.all(wanted, { agentId, limit: lookMax }),
    db.all(oldest, { agentId, limit: 1 }),
    listOpenTasks(db, agentId),
  ])
  const tasks = await findTasks(db, taskIds.slice(0, lookMax))
  if (unread.length === 0 && tasks.length === 0) return null
  const newest = tasks.sort((a, b) => b.statusAt - a.statusAt || (a.id < b.id ? 1 : -1))[0]
  const waiting = [...first.map(({ createdAt }) => createdAt), ...tasks.map(({ statusAt }) => statusAt)]
  const senderIds = [...unread.map(({ senderId }) => senderId), ...tasks.map(({ originatorId }) => originatorId)]
  return {
    key: `${unread[0]?.id ?? ''} ${newest ? `${newest.id}@${newest.version}` : ''}`,
    unread: unread.length,
    openTasks: tasks.length,
    oldestAt: Math.min(...waiting),
    senderIds: [...new Set(senderIds)].filter((id) => id !== agentId).slice(0, sendersMax),
  }
}

/** Finds the agent that has acknowledged a wake test. A test is of an operator, so that no peer can write one, and has one recipient. */
export const findProof: GateContext['findProof'] = async (db, projectId, messageId) => {
  const rows = await db.all(acknowledged, { projectId, messageId })
  const [row] = rows
  return rows.length === 1 && row && row.at !== null ? { agentId: row.agentId, at: row.at } : undefined
}

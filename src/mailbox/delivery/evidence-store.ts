import type { Reader, Transaction } from '../../storage/database.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { joined, sql } from '../../storage/statement.ts'
import { threadColumn } from '../messages/message-store.ts'
import type { WakeEvidence } from './wake-evidence.ts'

/** A message that a wake announced to its recipient. */
export interface WokenMail {
  readonly messageId: string
  readonly senderId: string
  readonly projectId: string
  readonly threadId: string
  readonly taskId: string | null
  readonly priority: string
  readonly taggedConcepts: readonly string[]
  readonly inReplyTo: string | null
  /** What is known of its newest wake. */
  readonly wake: WakeEvidence | null
}

interface Row extends Omit<WokenMail, 'wake' | 'taggedConcepts'> {
  wake: string | null
  taggedConcepts: string
}

// A cross join makes SQLite start from the pairs and look each one up in the table.
const found = new RowsStatement<Row>(
  (value) => sql`${value(0)}, ${value(1)}`,
  2,
  (
    rows,
  ) => sql`select m.id as "messageId", m.sender_id as "senderId", m.project_id as "projectId", ${threadColumn} as "threadId",
    m.task_id as "taskId", m.priority, m.tagged_concepts as "taggedConcepts", m.in_reply_to as "inReplyTo", r.wake
  from (values ${rows}) v cross join message_recipient r cross join message m
  where r.agent_id = ${joined('v.column1')} and r.message_id = ${joined('v.column2')} and m.id = ${joined('v.column2')}`,
)
const save = new RowsStatement(
  (value) => sql`${value(0)}, ${value(1)}, ${value(2)}, cast(${value(3)} as bigint)`,
  4,
  (rows) => sql`update message_recipient set wake = v.column3,
    receipt = case when v.column4 = 1 and receipt in ('accepted', 'routed', 'written') then 'turn_started' else receipt end
  from (values ${rows}) v where agent_id = ${joined('v.column1')} and message_id = ${joined('v.column2')}`,
)

/** Returns those of the messages that an agent has, in the order of their ids. */
export async function findWokenMail(db: Reader, agentId: string, messageIds: readonly string[]): Promise<WokenMail[]> {
  const rows = await found.all(
    db,
    messageIds.map((messageId) => [agentId, messageId]),
  )
  return rows
    .map(({ wake, taggedConcepts, ...row }) => ({
      taggedConcepts: JSON.parse(taggedConcepts) as string[],
      wake: wake === null ? null : (JSON.parse(wake) as WakeEvidence),
      ...row,
    }))
    .sort((one, other) => (one.messageId < other.messageId ? -1 : 1))
}

/** Puts evidence down to messages of an agent. `isTurn`: it proves that a turn began with them. */
export async function saveEvidence(
  tx: Transaction,
  agentId: string,
  evidence: readonly { readonly messageId: string; readonly wake: WakeEvidence; readonly isTurn: boolean }[],
): Promise<void> {
  await save.run(
    tx,
    evidence.map(({ messageId, wake, isTurn }) => [agentId, messageId, JSON.stringify(wake), isTurn ? 1 : 0]),
  )
}

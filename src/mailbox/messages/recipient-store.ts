import { operatorId } from '../../registry/agents/identity.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { RowTable } from '../../storage/row-table.ts'
import { rowsInsert } from '../../storage/rows.ts'
import { limited, p, type SQL, type Statement, sql, statement } from '../../storage/statement.ts'
import type { Receipt, ReportableStatus } from '../../words/mail.ts'
import { type Recipient, recipientFields } from './message.ts'
import { predecessorsOf } from './status.ts'

export const recipientColumns = new RowTable('message_recipient', recipientFields).select('r')

interface NewRecipients {
  messageId: string
  type: string
  signalType: string | null
  pending: number
  receipt: Receipt
  sessionId: string | null
  /** The project and the sender, for the mail of the operator. */
  origin: string
}

const recipientRows = rowsInsert(
  'message_recipient',
  'agent_id, message_id, status, updated_at, type, signal_type, pending, receipt, session_id, origin',
)
/** A recipient with its agent, and the reports on the newest wake with this message (JSON). A removed agent has neither handle nor project. */
export interface AgentRecipient extends Recipient {
  readonly handle: string | null
  readonly projectId: string | null
  readonly wake: string | null
}

const agentColumns = sql`${recipientColumns}, r.wake, a.handle, a.project_id as "projectId"`
const ofMessage = statement<{ messageId: string; limit: number }, AgentRecipient>(
  sql`select ${agentColumns} from message_recipient r left join agent a on a.id = r.agent_id
    where r.message_id = ${p('messageId')} order by a.handle, r.agent_id ${limited}`,
)
const one = statement<{ agentId: string; messageId: string }, AgentRecipient>(
  sql`select ${agentColumns} from message_recipient r left join agent a on a.id = r.agent_id
    where r.agent_id = ${p('agentId')} and r.message_id = ${p('messageId')}`,
)

interface Advance {
  agentId: string
  messageId: string
  now: number
}
// A recipient that reports a status has the message: no route delivers it again.
const delivered = sql`pending = 0, delivered_at = coalesce(delivered_at, ${p('now')}), delivery_method = coalesce(delivery_method, 'inbox')`
const steps: Record<ReportableStatus, SQL> = {
  seen: sql`seen_at = ${p('now')}`,
  acked: sql`seen_at = coalesce(seen_at, ${p('now')}), acked_at = ${p('now')}`,
  resolved: sql`seen_at = coalesce(seen_at, ${p('now')}), acked_at = coalesce(acked_at, ${p('now')}), ended_at = ${p('now')}`,
  // Not acked: what is superseded before that was thrown away, not accepted.
  superseded: sql`seen_at = coalesce(seen_at, ${p('now')}), ended_at = ${p('now')}`,
}
const advances: Record<ReportableStatus, Statement<Advance>> = {
  seen: advanceTo('seen'),
  acked: advanceTo('acked'),
  resolved: advanceTo('resolved'),
  superseded: advanceTo('superseded'),
}
function advanceTo(to: ReportableStatus): Statement<Advance> {
  const before = predecessorsOf(to).map((from) => `'${from}'`)
  return statement<Advance>(sql`update message_recipient set status = ${sql.raw(`'${to}'`)}, updated_at = ${p('now')}, ${delivered}, ${steps[to]}
    where agent_id = ${p('agentId')} and message_id = ${p('messageId')} and status in (${sql.raw(before.join(', '))})`)
}

/** Inserts one row for each recipient, many rows in one statement. */
export async function insertRecipients(
  tx: Transaction,
  agentIds: readonly string[],
  row: NewRecipients,
): Promise<void> {
  const { messageId, type, signalType, pending, receipt, sessionId, origin } = row
  const rows = agentIds.map((agentId) => {
    const from = agentId === operatorId ? origin : null
    return [agentId, messageId, 'sent', tx.now, type, signalType, pending, receipt, sessionId, from]
  })
  await recipientRows.run(tx, rows)
}

/** Lists the recipients of a message in the order of their handles. */
export function listRecipients(db: Reader, messageId: string, limit: number): Promise<AgentRecipient[]> {
  return db.all(ofMessage, { messageId, limit })
}

export function findRecipient(db: Reader, agentId: string, messageId: string): Promise<AgentRecipient | undefined> {
  return db.get(one, { agentId, messageId })
}

/** Moves a recipient's status forward. Returns false when the current status may not become `to`, or there is no such recipient. */
export async function advanceStatus(
  tx: Transaction,
  agentId: string,
  messageId: string,
  to: ReportableStatus,
): Promise<boolean> {
  return (await tx.run(advances[to], { agentId, messageId, now: tx.now })) > 0
}

import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { lateFilter, limited, p, sql, statement } from '../../storage/statement.ts'
import type { WakeSubscription } from './subscription.ts'
import { type SubscriptionRow, subscriptionColumns, wakeFromRow } from './subscription-row.ts'
import { lockSubscription } from './subscription-store.ts'

const byMcpId = statement<{ mcpId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where mcp_id = ${p('mcpId')} and mcp_id is not null`,
)
const ofOwner = statement<{ agentId: string; projectId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where agent_id = ${p('agentId')} and kind = 'wake'
    and project_id = ${p('projectId')} and harness_target = 'mcp-webhook'`,
)
const ofKey = statement<{ keyId: string }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where key_id = ${p('keyId')} and harness_target = 'mcp-webhook'`,
)
const expired = statement<{ now: number; limit: number }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription where expires_at <= ${p('now')} and expires_at is not null
    order by expires_at ${limited}`,
)
const refresh = statement<{ id: string; expiresAt: number; keyId: string; target: string }>(
  sql`update subscription set expires_at = ${p('expiresAt')}, key_id = ${p('keyId')}, target = ${p('target')}, has_gap = 0
    where id = ${p('id')}`,
)
const gaps = statement<{ now: number; limit: number }, SubscriptionRow>(
  sql`select ${subscriptionColumns} from subscription
    where has_gap = 1 and ${lateFilter(sql`status = 'active'`)} and expires_at > ${p('now')} order by expires_at ${limited}`,
)
const said = new ListStatement((ids) => sql`update subscription set has_gap = 2 where id in (${ids}) and has_gap = 1`)
// An idle one has looked at everything.
const overtaken = statement<object>(
  sql`update subscription set has_gap = 1 where mcp_id > '' and has_gap = 0 and not (status = 'active' and due_at is null)
    and cursor_log_id < (select log_tail from project where project.id = subscription.project_id)`,
)

/** Returns the subscription of a client of MCP by the id that the client knows, locked until the transaction ends. */
export async function lockMcpSubscription(tx: Transaction, mcpId: string): Promise<WakeSubscription | undefined> {
  const found = await findMcpSubscription(tx, mcpId)
  if (found === undefined) return undefined
  await lockSubscription(tx, found.id)
  return findMcpSubscription(tx, mcpId)
}

export async function findMcpSubscription(db: Reader, mcpId: string): Promise<WakeSubscription | undefined> {
  const row = await db.get(byMcpId, { mcpId })
  return row && wakeFromRow(row)
}

/** Returns those that an agent, or the operator of a project, has. */
export async function listMcpSubscriptions(
  db: Reader,
  owner: { readonly agentId: string; readonly projectId: string },
): Promise<WakeSubscription[]> {
  return (await db.all(ofOwner, owner)).map(wakeFromRow)
}

/** Returns those that were last refreshed with a key. */
export async function listMcpSubscriptionsOfKey(db: Reader, keyId: string): Promise<WakeSubscription[]> {
  return (await db.all(ofKey, { keyId })).map(wakeFromRow)
}

/** Returns those whose time is over (ms since the epoch), the oldest first. */
export async function listExpired(db: Reader, now: number, limit: number): Promise<WakeSubscription[]> {
  return (await db.all(expired, { now, limit })).map(wakeFromRow)
}

/** Has a subscription live longer. Its client is notified of a gap with the answer. */
export async function refreshMcpSubscription(
  tx: Transaction,
  { id, target }: Pick<WakeSubscription, 'id' | 'target'>,
  { expiresAt, keyId }: { readonly expiresAt: number; readonly keyId: string },
): Promise<void> {
  await tx.run(refresh, { id, expiresAt, keyId, target: JSON.stringify(target) })
}

/** Takes subscriptions whose clients are to be sent the message of a gap. Each is returned once, until its client's next refresh. */
export async function takeGaps(db: Database, now: number, limit: number): Promise<WakeSubscription[]> {
  const found = (await db.all(gaps, { now, limit })).map(wakeFromRow)
  const ids = found.map(({ id }) => id)
  if (ids.length > 0) await db.transaction((tx) => said.run(tx, {}, ids))
  return found
}

/** Notes the gaps of subscriptions that had still to look at events which retention has removed. */
export async function noteOvertaken(db: Database): Promise<void> {
  await db.transaction((tx) => tx.run(overtaken, {}))
}

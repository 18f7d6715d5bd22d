import type { Trigger } from '../../log/event.ts'
import { gatedTargets, type HarnessTarget } from '../../registry/subscriptions/targets.ts'
import type { Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { lateFilter, p, sql, statement } from '../../storage/statement.ts'

interface CommonColumns {
  readonly id: string
  /** The agent that owns it. */
  readonly agentId: string
  readonly audience: string
  readonly windowUntil: number
  readonly cursorLogId: number
  readonly dueAt: number | null
}

/** An active subscription that an event may wake. Its JSON is not parsed yet: most candidates do not need it. */
export type Candidate =
  | (CommonColumns & {
      readonly kind: 'wake'
      readonly trigger: Trigger
      readonly filters: string
      readonly harnessTarget: HarnessTarget
      readonly target: string
      readonly coalesceMs: number
      readonly streamGateway: string | null
      readonly streamCapabilities: string
    })
  | (CommonColumns & { readonly kind: 'push' })

const columns =
  sql.raw(`id, agent_id as "agentId", audience, kind, trigger, filters, harness_target as "harnessTarget", target, coalesce_ms as "coalesceMs", stream_gateway as "streamGateway", stream_capabilities as "streamCapabilities",
  window_until as "windowUntil", cursor_log_id as "cursorLogId", due_at as "dueAt"`)
// A subscription that is due or leased needs no scheduling: its run reads to the end of the log. But where presence decides, it
// decides about each event when it is appended.
const gated = sql.raw(`harness_target in ('${gatedTargets.join("', '")}')`)
const idleOf = new ListStatement<{ projectId: string }, Candidate>(
  (
    audiences,
  ) => sql`select ${columns} from subscription where audience in (${audiences}) and project_id = ${p('projectId')}
    and status = 'active' and (due_at is null or ${gated})`,
)
// Those that an act of the audience itself may wake. `target` is written by JSON.stringify, so no text in it reads like the member.
const wakesForOwn = lateFilter(sql.raw(`agent_id <> audience or target like '%"includeOwn":true%'`))
const idleForOwnOf = new ListStatement<{ projectId: string }, Candidate>(
  (
    audiences,
  ) => sql`select ${columns} from subscription where audience in (${audiences}) and project_id = ${p('projectId')}
    and status = 'active' and (due_at is null or ${gated}) and ${wakesForOwn}`,
)
// An idle subscription has nothing to read before this event: what lies between was not for it, and is never read again.
const setDue = new RowsStatement(
  (value) => sql`${value(0)}, cast(${value(1)} as bigint), cast(${value(2)} as bigint)`,
  3,
  (rows) => sql`update subscription set due_at = v.column2, cursor_log_id = v.column3
  from (values ${rows}) v where id = v.column1 and ${lateFilter(sql`due_at is null`)}`,
)
// Not one that is leased: its run looks for replays before it ends.
const setDueNow = statement<{ id: string; now: number }>(sql`update subscription
  set due_at = case when due_at < ${p('now')} then due_at else ${p('now')} end
  where id = ${p('id')} and status = 'active' and lease_owner is null`)

/**
 * Returns the active subscriptions of audiences that scheduling can change. Of the audiences `notOwn`, which caused all of their events
 * themselves, only those that own acts may wake.
 */
export async function readCandidates(
  tx: Transaction,
  projectId: string,
  audiences: { readonly idle: readonly string[]; readonly notOwn: readonly string[] },
): Promise<Candidate[]> {
  const found = await Promise.all([
    idleOf.all(tx, { projectId }, audiences.idle),
    idleForOwnOf.all(tx, { projectId }, audiences.notOwn),
  ])
  return found.flat()
}

/** A subscription that falls due: when (ms since the epoch), and where its cursor stands before that. */
export interface Due {
  readonly id: string
  readonly dueAt: number
  readonly skippedTo: number
}

/** Makes idle subscriptions due. One that is due already is left alone. */
export function makeDue(tx: Transaction, dues: readonly Due[]): Promise<void> {
  return setDue.run(
    tx,
    dues.map(({ id, dueAt, skippedTo }) => [id, dueAt, skippedTo]),
  )
}

/** Makes an active subscription due now, unless it is leased or due already. */
export async function makeDueNow(tx: Transaction, subscriptionId: string): Promise<void> {
  await tx.run(setDueNow, { id: subscriptionId, now: tx.now })
}

import { operatorAudience } from '../log/event.ts'
import { type RowOf, text } from '../storage/columns.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { RowTable } from '../storage/row-table.ts'
import { p, sql, statement } from '../storage/statement.ts'
import { type NeedNotice, noticeFields } from './telling.ts'

const needs = new RowTable('need', noticeFields, { projectId: text })
const ofProject = statement<{ projectId: string }, RowOf<typeof noticeFields>>(
  sql`select ${needs.columns} from need where project_id = ${p('projectId')}`,
)
const raise = needs.insert(sql`on conflict (project_id, id)
  do update set kind = excluded.kind, told_at = excluded.told_at, is_open = 1, snoozed_until = 0, raised_log_id = excluded.raised_log_id`)
const close = statement<{ projectId: string; id: string }>(
  sql`update need set is_open = 0 where project_id = ${p('projectId')} and id = ${p('id')}`,
)
const forget = statement<{ projectId: string; id: string }>(
  sql`delete from need where project_id = ${p('projectId')} and id = ${p('id')}`,
)
const snooze = needs.insert(sql`on conflict (project_id, id)
  do update set kind = excluded.kind, snoozed_until = excluded.snoozed_until`)
const forgetOver = statement<{ projectId: string; now: number }>(sql`delete from need
  where project_id = ${p('projectId')} and is_open = 0 and told_at = 0 and snoozed_until <= ${p('now')}`)
const watched = statement<{ operator: string }, { projectId: string }>(
  sql`select distinct project_id as "projectId" from subscription where agent_id = ${p('operator')} and trigger = 'NEED_CHANGED'`,
)

/** Returns the notices of a project. */
export async function listNotices(db: Reader, projectId: string): Promise<NeedNotice[]> {
  return (await db.all(ofProject, { projectId })).map(needs.fromRow)
}

export async function saveNotice(
  tx: Transaction,
  projectId: string,
  raised: Pick<NeedNotice, 'id' | 'kind' | 'agent' | 'raisedLogId'>,
): Promise<void> {
  await tx.run(raise, { ...raised, projectId, toldAt: tx.now, isOpen: 1, snoozedUntil: 0 })
}

export async function closeNotice(tx: Transaction, projectId: string, id: string): Promise<void> {
  await tx.run(close, { projectId, id })
}

export async function forgetNotice(tx: Transaction, projectId: string, id: string): Promise<void> {
  await tx.run(forget, { projectId, id })
}

/** Puts a need off until an instant, in ms since the epoch; 0 ends that. It also forgets those in a project that nobody listens to. */
export async function saveSnooze(
  tx: Transaction,
  projectId: string,
  { id, kind, agent }: Pick<NeedNotice, 'id' | 'kind' | 'agent'>,
  until: number,
): Promise<void> {
  await tx.run(snooze, { projectId, id, kind, agent, toldAt: 0, isOpen: 0, snoozedUntil: until, raisedLogId: 0 })
  await tx.run(forgetOver, { projectId, now: tx.now })
}

/** The projects in which an operator has a subscription of needs. */
export async function listWatchedProjects(db: Reader): Promise<string[]> {
  return (await db.all(watched, { operator: operatorAudience })).map(({ projectId }) => projectId)
}

import { ulidFloor } from '../lib/ids.ts'
import type { RecoverySettings } from '../registry/recovery/gate.ts'
import type { RowOf } from '../storage/columns.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { stepRows } from '../storage/delete-in-batches.ts'
import { RowTable } from '../storage/row-table.ts'
import { RowsStatement } from '../storage/rows.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { ReachedCap } from './facts.ts'
import {
  dayMs,
  hasCaps,
  nobody,
  type Parties,
  reachedCap,
  type Turn,
  type TurnCost,
  type TurnOutcome,
  turnFields,
} from './turn.ts'

type Row = RowOf<typeof turnFields>

/** More than the records of an agent's caps that are closed at once. */
const withheldMax = 10
/** A day's turns that are counted: more than any cap. */
const countedMax = 10_000

const turns = new RowTable('turn', turnFields)
const { columns, fromRow } = turns
const insert = turns.insert(sql`on conflict (agent_id, id) do nothing`)
const withheldNow = statement<{ projectId: string; agentId: string; now: number; limit: number }, Row>(
  sql`select ${columns} from turn where project_id = ${p('projectId')} and outcome = 'withheld' and ended_at > ${p('now')}
    and (${p('agentId')} = '' or agent_id = ${p('agentId')}) order by ended_at desc ${limited}`,
)
/** A wake that a webhook has taken. Of the targets whose receivers report for themselves, the programs book their runs. */
const insertWakes = new RowsStatement(
  'text text text bigint bigint text text bigint',
  (
    rows,
  ) => sql`insert into turn (agent_id, id, project_id, act, route, subscription_id, event_id, from_log_id, to_log_id, senders, thread_id,
    started_at, outcome)
  select s.agent_id, v.column2, s.project_id, v.column3, s.harness_target, s.id, v.column2, v.column4, v.column5, v.column6, v.column7, v.column8,
    'unknown'
  from (values ${rows}) v join subscription s on s.id = v.column1 where s.kind = 'wake' and s.harness_target = 'a2a-webhook'
  on conflict (agent_id, id) do nothing`,
)
const end = statement<{
  agentId: string
  id: string
  outcome: string
  detail: string | null
  cost: string | null
  now: number
}>(sql`update turn set outcome = ${p('outcome')}, detail = ${p('detail')}, cost = ${p('cost')}, ended_at = ${p('now')}
  where agent_id = ${p('agentId')} and id = ${p('id')}`)
const ofAgent = statement<{ agentId: string; before: string; limit: number }, Row>(
  sql`select ${columns} from turn where agent_id = ${p('agentId')} and id < ${p('before')} order by id desc ${limited}`,
)
const ofProject = statement<{ projectId: string; before: string; limit: number }, Row>(
  sql`select ${columns} from turn where project_id = ${p('projectId')} and id < ${p('before')} order by id desc ${limited}`,
)
const since = statement<{ agentId: string; from: string; limit: number }, Row>(
  sql`select ${columns} from turn where agent_id = ${p('agentId')} and id >= ${p('from')} order by id desc ${limited}`,
)
const openAll = statement<{ projectId: string; agentId: string; now: number }, { agentId: string }>(
  sql`update turn set ended_at = ${p('now')} where project_id = ${p('projectId')} and outcome = 'withheld' and ended_at > ${p('now')}
    and (${p('agentId')} = '' or agent_id = ${p('agentId')}) returning agent_id as "agentId"`,
)
const removeAged = statement<{ before: string; limit: number }>(sql`delete from turn where (agent_id, id) in (
  select t.agent_id, t.id from project p join turn t on t.project_id = p.id where t.id < ${p('before')} ${limited})`)
const removeOf = statement<{ agentId: string }>(sql`delete from turn where agent_id = ${p('agentId')}`)

/** Books a turn. A wake that is sent again is the same turn. */
export async function insertTurn(tx: Transaction, turn: Turn): Promise<void> {
  await tx.run(insert, turns.toRow(turn))
}

/** Books that a cap withholds a turn, unless it is on record that this cap withholds turns of the agent. */
export async function insertWithheldTurn(tx: Transaction, turn: Turn): Promise<void> {
  const known = await listWithheld(tx, turn, tx.now, withheldMax)
  if (!known.some(({ detail }) => detail === turn.detail)) await insertTurn(tx, turn)
}

/** Returns the turns that caps withhold now, of an agent or of a project, the one that may begin last first. */
export async function listWithheld(
  db: Reader,
  { projectId, agentId = '' }: { readonly projectId: string; readonly agentId?: string },
  now: number,
  limit: number,
): Promise<Turn[]> {
  return (await db.all(withheldNow, { projectId, agentId, now, limit })).map(fromRow)
}

/** Ends all that is withheld from an agent, or with `''` from those of a project. Returns the ids of the agents. */
export async function endWithheld(tx: Transaction, projectId: string, agentId: string): Promise<string[]> {
  return [...new Set((await tx.all(openAll, { projectId, agentId, now: tx.now })).map((row) => row.agentId))]
}

/** A wake that arrived, as it is booked. */
export interface ArrivedWake extends Parties {
  readonly subscriptionId: string
  readonly eventId: string
  readonly act: 'wake' | 'nudge'
  readonly fromLogId: number
  readonly toLogId: number
}

/** Books the wakes that webhooks have taken, in the transaction that records them: what a receiver does with one is not known. */
export function insertArrived(tx: Transaction, wakes: readonly ArrivedWake[]): Promise<void> {
  const rows = wakes.map(({ subscriptionId, eventId, act, fromLogId, toLogId, senders, threadId }) => {
    return [subscriptionId, eventId, act, fromLogId, toLogId, JSON.stringify(senders), threadId, tx.now]
  })
  return insertWakes.run(tx, rows)
}

/** Books the end of a turn. Returns false where the agent has no such turn. */
export async function endTurn(
  tx: Transaction,
  agentId: string,
  id: string,
  {
    outcome,
    detail,
    cost,
  }: { readonly outcome: TurnOutcome; readonly detail: string | null; readonly cost: TurnCost | null },
): Promise<boolean> {
  const said = { outcome, detail, cost: cost && JSON.stringify(cost) }
  return (await tx.run(end, { agentId, id, ...said, now: tx.now })) > 0
}

/** Returns a page of the turns of an agent or a project, the newest first. `before`: the last id of the page before; `''`: the first page. */
export async function listTurns(
  db: Reader,
  of: { readonly agentId: string } | { readonly projectId: string },
  { before, limit }: { readonly before: string; readonly limit: number },
): Promise<Turn[]> {
  const page = { before: before || '~', limit }
  const rows = 'agentId' in of ? db.all(ofAgent, { ...of, ...page }) : db.all(ofProject, { ...of, ...page })
  return (await rows).map(fromRow)
}

/** Returns the newest turns of an agent within the last day: all that a cap may count, or `limit`. */
export async function recentTurns(db: Reader, agentId: string, now: number, limit = countedMax): Promise<Turn[]> {
  return (await db.all(since, { agentId, from: ulidFloor(now - dayMs), limit })).map(fromRow)
}

/** Returns the cap that the turns of an agent have reached, for the mail of somebody. An agent without caps costs no query. */
export async function findReachedCap(
  db: Reader,
  agentId: string,
  settings: RecoverySettings,
  now: number,
  parties: Parties = nobody,
): Promise<ReachedCap | null> {
  return hasCaps(settings) ? reachedCap(settings, await recentTurns(db, agentId, now), parties, now) : null
}

/** Removes turns from before an instant (ms since the epoch). Returns how many. */
export async function pruneTurns(db: Database, before: number, signal: AbortSignal): Promise<number> {
  let pruned = 0
  for (let rows = stepRows; rows === stepRows && !signal.aborted; pruned += rows) {
    rows = await db.transaction((tx) => tx.run(removeAged, { before: ulidFloor(before), limit: stepRows }))
  }
  return pruned
}

export async function deleteTurnsOf(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(removeOf, { agentId })
}

import type { RowOf } from '../storage/columns.ts'
import type { Database, Reader, Transaction } from '../storage/database.ts'
import { stepRows } from '../storage/delete-in-batches.ts'
import { ListStatement } from '../storage/list.ts'
import { RowTable } from '../storage/row-table.ts'
import { lateFilter, limited, p, type SQL, sql, statement } from '../storage/statement.ts'
import { type Approval, type ApprovalState, approvalFields, approvalStateNames } from './approval.ts'

type Row = RowOf<typeof approvalFields>

/** The closed ones without a decision that an agent keeps. */
const undecidedMax = 100

const approvals = new RowTable('approval', approvalFields)
const { columns, fromRow, toRow } = approvals
const isOpen = sql`state = 'open' and ${lateFilter(sql`expires_at > ${p('now')}`)}`
const insert = approvals.insert()
const removeSurplus = statement<{ agentId: string; keep: number }>(sql`delete from approval where id in (
  select id from approval where agent_id = ${p('agentId')} and closed_at is not null and answer is null
  order by id desc limit 100 offset ${p('keep')})`)
const byId = statement<{ id: string }, Row>(sql`select ${columns} from approval where id = ${p('id')}`)
const byNonce = statement<{ agentId: string; nonce: string }, Row>(
  sql`select ${columns} from approval where agent_id = ${p('agentId')} and nonce = ${p('nonce')}`,
)
const openOfAgent = statement<{ agentId: string; now: number }, Row>(
  sql`select ${columns} from approval where agent_id = ${p('agentId')} and ${isOpen} order by id`,
)
const countOpen = statement<{ agentId: string; now: number }, { count: number }>(
  sql`select count(*) as "count" from approval where agent_id = ${p('agentId')} and ${isOpen}`,
)
/** One winner: the state in the condition is the one that the decision was made on. */
const close = statement<
  Pick<Row, 'id' | 'state' | 'answer' | 'message' | 'answers' | 'decidedBy'> & { now: number },
  Row
>(sql`update approval set state = ${p('state')}, closed_at = ${p('now')}, answer = ${p('answer')}, message = ${p('message')},
    answers = ${p('answers')}, decided_by = ${p('decidedBy')}
  where id = ${p('id')} and state = 'open' returning ${columns}`)
const note = statement<{ id: string; outcome: string }, Row>(
  sql`update approval set outcome = ${p('outcome')} where id = ${p('id')} and state = 'answered' and outcome is null
    returning ${columns}`,
)
const overdue = statement<{ now: number; limit: number }, Row>(
  sql`select ${columns} from approval where state = 'open' and expires_at <= ${p('now')} order by expires_at ${limited}`,
)
const removeOf = statement<{ agentId: string }>(sql`delete from approval where agent_id = ${p('agentId')}`)
const removeAged = statement<{ before: number; limit: number }>(sql`delete from approval where id in (
  select id from approval where closed_at < ${p('before')} and closed_at is not null order by closed_at ${limited})`)

export async function insertApproval(tx: Transaction, approval: Approval): Promise<void> {
  await tx.run(insert, toRow(approval))
  await tx.run(removeSurplus, { agentId: approval.agentId, keep: undecidedMax })
}

export async function findApproval(db: Reader, id: string): Promise<Approval | undefined> {
  const row = await db.get(byId, { id })
  return row && fromRow(row)
}

/** Finds the record of a request of an agent's harness. */
export async function findByNonce(db: Reader, agentId: string, nonce: string): Promise<Approval | undefined> {
  const row = await db.get(byNonce, { agentId, nonce })
  return row && fromRow(row)
}

/** The facts about each open approval in a list of all, without its input. */
export type OpenApproval = Pick<Approval, 'id' | 'agentId' | 'sessionId' | 'askedAt' | 'expiresAt'>

const allOpen = (owner: 'agent_id' | 'project_id') =>
  statement<{ owner: string; now: number; limit: number }, OpenApproval>(
    sql`select ${approvals.select('', 'id', 'agentId', 'sessionId', 'askedAt', 'expiresAt')} from approval
      where ${sql.raw(owner)} = ${p('owner')} and ${isOpen} order by id ${limited}`,
  )
const everyOpen = { ofAgent: allOpen('agent_id'), ofProject: allOpen('project_id') }

/** Lists what is open at an instant, of an agent or a project, oldest first. */
export function listOpen(
  db: Reader,
  of: { readonly agentId: string } | { readonly projectId: string },
  now: number,
  limit: number,
): Promise<OpenApproval[]> {
  return 'agentId' in of
    ? db.all(everyOpen.ofAgent, { owner: of.agentId, now, limit })
    : db.all(everyOpen.ofProject, { owner: of.projectId, now, limit })
}

/** Lists those of an agent that are open at an instant, oldest first. */
export async function listOpenOf(db: Reader, agentId: string, now: number): Promise<Approval[]> {
  return (await db.all(openOfAgent, { agentId, now })).map(fromRow)
}

export async function countOpenOf(db: Reader, agentId: string, now: number): Promise<number> {
  return (await db.get(countOpen, { agentId, now }))?.count ?? 0
}

/** The end of an approval. */
export interface Ending extends Partial<Pick<Approval, 'answer' | 'message' | 'answers' | 'decidedBy'>> {
  readonly state: Exclude<ApprovalState, 'open'>
}

/** Closes an open approval. undefined: it was closed before. */
export async function closeApproval(tx: Transaction, id: string, ending: Ending): Promise<Approval | undefined> {
  const { state, answer = null, message = null, answers = null, decidedBy = null } = ending
  const said = { answer, message, answers: answers && JSON.stringify(answers), decidedBy }
  const row = await tx.get(close, { id, state, ...said, now: tx.now })
  return row && fromRow(row)
}

/** Notes what the harness did with an answer. undefined: that was noted before, or there is no answer. */
export async function noteOutcome(tx: Transaction, id: string, outcome: string): Promise<Approval | undefined> {
  const row = await tx.get(note, { id, outcome })
  return row && fromRow(row)
}

/** Lists open approvals whose time is over, of all projects. */
export async function listOverdue(db: Reader, now: number, limit: number): Promise<Approval[]> {
  return (await db.all(overdue, { now, limit })).map(fromRow)
}

interface Page {
  /** The last id of the page before; `''`: the first page. */
  readonly before: string
  readonly limit: number
}

/** The keys have the state before the id: a page of all states merges the first ids of each. */
const pageOf = (owner: 'agent_id' | 'project_id', states: readonly ApprovalState[], filter = sql``) => {
  const key = sql.raw(`(${owner}, state, id)`)
  const firstOf = (state: SQL) => sql`select id from (select id from approval
    where ${key} > (${p('owner')}, ${state}, '') and ${key} < (${p('owner')}, ${state}, ${p('before')}) ${filter}
    order by ${sql.raw(`${owner} desc, state desc, id desc`)} ${limited}) as first`
  const firsts = states.map((state) => firstOf(sql.raw(`'${state}'`)))
  return statement<Page & { owner: string; now: number }, { id: string }>(
    sql`select id from (${sql.join(firsts, sql` union all `)}) a order by id desc ${limited}`,
  )
}
const pagesOf = (owner: 'agent_id' | 'project_id') => {
  const isLive = sql`and ${lateFilter(sql`expires_at > ${p('now')}`)}`
  const one = approvalStateNames.map(
    (state) => [state, pageOf(owner, [state], state === 'open' ? isLive : sql``)] as const,
  )
  return new Map<ApprovalState | undefined, ReturnType<typeof pageOf>>([
    [undefined, pageOf(owner, approvalStateNames)],
    ...one,
  ])
}
const amongIds = new ListStatement<object, Row>((ids) => sql`select ${columns} from approval where id in (${ids})`)
const pages = { ofAgent: pagesOf('agent_id'), ofProject: pagesOf('project_id') }
const pageOfConversation = statement<
  Page & { projectId: string; conversationId: string; agentId: string; state: string; now: number },
  Row
>(sql`select ${columns} from approval where project_id = ${p('projectId')} and conversation_id = ${p('conversationId')} and id < ${p('before')}
    and ${lateFilter(sql`(${p('agentId')} = '' or agent_id = ${p('agentId')}) and (${p('state')} = '' or state = ${p('state')})
      and (${p('state')} <> 'open' or expires_at > ${p('now')})`)} order by id desc ${limited}`)

/** Returns a page of the approvals of an agent or a project, the newest first. What has expired is not among the open ones, and among the expired ones when the sweep has closed it. */
export async function listApprovals(
  db: Reader,
  of: { readonly projectId: string; readonly agentId?: string | undefined },
  {
    state,
    conversationId,
    now,
  }: { readonly state?: ApprovalState | undefined; readonly conversationId?: string | undefined; readonly now: number },
  { before, limit }: Page,
): Promise<Approval[]> {
  const { projectId, agentId } = of
  const page = { before: before || '~', limit }
  if (conversationId !== undefined) {
    const conversation = { projectId, conversationId, agentId: agentId ?? '', state: state ?? '', now }
    return (await db.all(pageOfConversation, { ...conversation, ...page })).map(fromRow)
  }
  const owned = agentId === undefined ? pages.ofProject : pages.ofAgent
  const found = await db.all(owned.get(state)!, { owner: agentId ?? projectId, now, ...page })
  const rows = await amongIds.all(
    db,
    {},
    found.map(({ id }) => id),
  )
  return rows.map(fromRow).sort((one, other) => (one.id < other.id ? 1 : -1))
}

export async function deleteApprovalsOf(tx: Transaction, agentId: string): Promise<void> {
  await tx.run(removeOf, { agentId })
}

/** Removes approvals that were closed before an instant (ms since the epoch). Returns how many. */
export async function pruneApprovals(db: Database, before: number, signal: AbortSignal): Promise<number> {
  let pruned = 0
  for (let rows = stepRows; rows === stepRows && !signal.aborted; pruned += rows) {
    rows = await db.transaction((tx) => tx.run(removeAged, { before, limit: stepRows }))
  }
  return pruned
}

import { Problem } from '../errors.ts'
import type { Reader } from '../storage/database.ts'
import { limited, p, type SQL, type Statement, sql, statement } from '../storage/statement.ts'
import { type TaskState, taskStates } from './state.ts'
import type { Task } from './task.ts'
import { totalByCounters } from './task-count-store.ts'
import { handedOver, type TaskRow, taskColumns, taskFromRow, withItsAgent } from './task-store.ts'

export interface TaskQuery {
  /** Tasks of this project. With an agent, an assignee or an originator: their tasks in all projects, unless `isWithin`. */
  readonly projectId: string
  readonly isWithin?: boolean | undefined
  /** The agent that they were sent to. */
  readonly agentId?: string | undefined
  readonly assigneeId?: string | undefined
  readonly originatorId?: string | undefined
  readonly contextId?: string | undefined
  readonly state?: TaskState | undefined
  /** ms since the epoch, inclusive: tasks whose status has not changed since then are left out. */
  readonly statusSince?: number | undefined
  readonly pageSize: number
  readonly pageToken?: string | undefined
}

interface TaskPage {
  readonly tasks: readonly Task[]
  /** Empty on the last page. */
  readonly nextPageToken: string
  /** How many tasks match, on all pages. */
  readonly totalSize: number
}

/** Tasks by their status time, newest first. A page token is a position, not an offset. Source: specification §3.1.4. */
export async function listTasks(db: Reader, query: TaskQuery): Promise<TaskPage> {
  const { agentId, assigneeId, originatorId, contextId, state, statusSince, pageSize, pageToken } = query
  const projectId = (agentId ?? assigneeId ?? originatorId) && !query.isWithin ? undefined : query.projectId
  const given = present({ projectId, agentId, assigneeId, originatorId, contextId, state, statusSince })
  const from = pageToken ? readPageToken(pageToken) : undefined
  const { page, count } = statementsFor(Object.keys(given) as FilterName[], from !== undefined)
  const rows = await db.all(page, { ...given, ...from, limit: pageSize + 1 })
  const kept = rows.slice(0, pageSize).map(taskFromRow)
  const last = kept.at(-1)
  return {
    tasks: kept,
    nextPageToken: rows.length > pageSize && last ? writePageToken(last) : '',
    totalSize: (await db.get(count, given))?.total ?? 0,
  }
}

/** The token of the page after an answer that has room for only the first tasks of a page. */
export function nextPageToken(page: TaskPage, sent: readonly { readonly task: Task }[]): string {
  const last = sent.at(-1)
  return last && sent.length < page.tasks.length ? writePageToken(last.task) : page.nextPageToken
}

const filters = {
  projectId: sql`project_id = ${p('projectId')}`,
  agentId: sql`agent_id = ${p('agentId')}`,
  assigneeId: sql`assignee_id = ${p('assigneeId')}`,
  originatorId: sql`originator_id = ${p('originatorId')}`,
  contextId: sql`context_id = ${p('contextId')}`,
  state: sql`state = ${p('state')}`,
  statusSince: sql`status_at >= ${p('statusSince')}`,
}
type FilterName = keyof typeof filters

interface Statements {
  readonly page: Statement<object, TaskRow>
  readonly count: Statement<object, { total: number }>
}

const prepared = new Map<string, Statements>()

/** One pair of statements for each combination of filters, so that each is prepared once. */
function statementsFor(names: readonly FilterName[], continues: boolean): Statements {
  const shape = [...names, continues].join()
  const known = prepared.get(shape)
  if (known) return known
  const after = continues ? [sql`(status_at, id) < (${p('statusAt')}, ${p('id')})`] : []
  const made = {
    page: statement<object, TaskRow>(
      isOneRange(names)
        ? sql`select ${taskColumns} from task where ${allOf([...conditions(names), ...after])} ${newestFirst}`
        : sql`select ${taskColumns} from task where id in (${newestOfEach(rangesOf(names, after))}) ${newestFirst}`,
    ),
    count: totalByCounters(names) ?? statement(totalOf(rangesOf(names, []))),
  }
  prepared.set(shape, made)
  return made
}

const newestFirst = sql`order by status_at desc, id desc ${limited}`

/** Whether one index has the result in its order. */
function isOneRange(names: readonly FilterName[]): boolean {
  const has = (name: FilterName): boolean => names.includes(name)
  return has('contextId') || (has('agentId') && has('originatorId')) || (has('state') && !isOfWorker(names))
}

/** Whether an index of the agent that works on a task has the result. */
function isOfWorker(names: readonly FilterName[]): boolean {
  return names.includes('assigneeId') || names.includes('agentId')
}

/** The ranges of an index that have the result: one for each state, which is before the time, and for each part of an agent's tasks. */
function rangesOf(names: readonly FilterName[], after: readonly SQL[]): SQL[] {
  if (isOneRange(names)) return [allOf([...conditions(names), ...after])]
  const states = names.includes('state') ? [[]] : taskStates.map((state) => [sql`state = ${state}`])
  return partsOf(names).flatMap((part) => states.map((state) => allOf([...part, ...state, ...after])))
}

function partsOf(names: readonly FilterName[]): SQL[][] {
  const all = conditions(names)
  if (!isOfWorker(names)) return [all]
  // Where the two are the same, the index has the assignee alone.
  const others = conditions(names.filter((name) => name !== 'agentId'))
  const sent = names.includes('agentId') ? [sql`assignee_id = ${p('agentId')}`, ...others] : all
  return [
    [...sent, withItsAgent],
    [...all, handedOver],
  ]
}

const allOf = (terms: readonly SQL[]): SQL => sql.join([...terms], sql` and `)

function newestOfEach(ranges: readonly SQL[]): SQL {
  const newest = ranges.map(
    (range) => sql`select id from (select id from task where ${range} ${newestFirst}) as newest`,
  )
  return sql.join(newest, sql` union all `)
}

function totalOf(ranges: readonly SQL[]): SQL {
  const counts = ranges.map((range) => sql`select count(*) as counted from task where ${range}`)
  return sql`select cast(sum(counted) as bigint) as "total" from (${sql.join(counts, sql` union all `)}) as page`
}

function conditions(names: readonly FilterName[]): SQL[] {
  // coalesce() hides the project from the planner: the index by context reads fewer rows than the one by project.
  const project = names.includes('contextId') ? sql`coalesce(project_id, '') = ${p('projectId')}` : filters.projectId
  return names.map((name) => (name === 'projectId' ? project : filters[name]))
}

function present(
  values: Record<FilterName, string | number | undefined>,
): Partial<Record<FilterName, string | number>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function writePageToken(task: Task): string {
  return Buffer.from(`${task.statusAt}/${task.id}`).toString('base64url')
}

function readPageToken(token: string): { statusAt: number; id: string } {
  const match = /^(\d{1,15})\/([\w:.-]{1,255})$/.exec(Buffer.from(token, 'base64url').toString('utf8'))
  if (!match) {
    throw new Problem('invalid-request', {
      field: 'pageToken',
      detail: 'pageToken: is not a token of this gateway. Send the `nextPageToken` of the previous page, unchanged.',
    })
  }
  return { statusAt: Number(match[1]), id: match[2]! }
}

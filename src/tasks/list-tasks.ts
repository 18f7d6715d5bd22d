import { Problem } from '../errors.ts'
import type { Reader } from '../storage/database.ts'
import { type Statement, sql } from '../storage/statement.ts'
import type { TaskState } from './state.ts'
import type { Task } from './task.ts'
import { type TaskRow, taskColumns, taskFromRow } from './task-store.ts'

export interface TaskQuery {
  /** Only tasks of this project. */
  readonly projectId: string
  readonly assigneeId?: string | undefined
  readonly originatorId?: string | undefined
  readonly contextId?: string | undefined
  readonly state?: TaskState | undefined
  /** ms since the epoch; only tasks whose status is this new or newer. */
  readonly statusSince?: number | undefined
  readonly pageSize: number
  readonly pageToken?: string | undefined
}

export interface TaskPage {
  readonly tasks: readonly Task[]
  /** Empty on the last page. */
  readonly nextPageToken: string
  readonly totalSize: number
}

/** Tasks by their status time, newest first. A page token is a position, not an offset. Source: specification §3.1.4. */
export async function listTasks(db: Reader, query: TaskQuery): Promise<TaskPage> {
  const where = [sql`project_id = ${query.projectId}`]
  if (query.assigneeId) where.push(sql`assignee_id = ${query.assigneeId}`)
  if (query.originatorId) where.push(sql`originator_id = ${query.originatorId}`)
  if (query.contextId) where.push(sql`context_id = ${query.contextId}`)
  if (query.state) where.push(sql`state = ${query.state}`)
  if (query.statusSince !== undefined) where.push(sql`status_at >= ${query.statusSince}`)
  const all = sql.join(where, sql` and `)
  const from = query.pageToken ? readPageToken(query.pageToken) : undefined
  const page = from ? sql`${all} and (status_at, id) < (${from.statusAt}, ${from.id})` : all
  const tasks: Statement<object, TaskRow> = {
    sql: sql`select ${taskColumns} from task where ${page} order by status_at desc, id desc limit ${query.pageSize + 1}`,
  }
  const count: Statement<object, { total: number }> = { sql: sql`select count(*) as "total" from task where ${all}` }
  const rows = await db.all(tasks, {})
  const kept = rows.slice(0, query.pageSize).map(taskFromRow)
  const last = kept.at(-1)
  return {
    tasks: kept,
    nextPageToken: rows.length > query.pageSize && last ? writePageToken(last) : '',
    totalSize: (await db.get(count, {}))?.total ?? 0,
  }
}

function writePageToken(task: Task): string {
  return Buffer.from(`${task.statusAt}/${task.id}`).toString('base64url')
}

function readPageToken(token: string): { statusAt: number; id: string } {
  const match = /^(\d+)\/(.+)$/.exec(Buffer.from(token, 'base64url').toString('utf8'))
  if (!match) {
    throw new Problem('invalid-request', {
      field: 'pageToken',
      detail: 'pageToken: not one of ours. Send `nextPageToken` of the page before, unchanged.',
    })
  }
  return { statusAt: Number(match[1]), id: match[2]! }
}

import { Problem } from '../errors.ts'
import { beginnerOf } from '../lib/ids.ts'
import { walk } from '../lib/walk.ts'
import type { Reader } from '../storage/database.ts'
import type { Statement } from '../storage/statement.ts'
import type { Task } from './task.ts'
import { type Position, statementsFor, type TaskOrder } from './task-list-statements.ts'
import type { FilterName, TaskFilters } from './task-ranges.ts'
import { type TaskRow, taskFromRow } from './task-store.ts'

export interface TaskQuery extends TaskFilters {
  /** Tasks of this project. With an agent, an assignee or an originator: their tasks in all projects, unless `isWithin`. */
  readonly projectId: string
  readonly isWithin?: boolean | undefined
  /** Default: the newest status first. */
  readonly order?: TaskOrder | undefined
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

/** How many entries of indexes one statement reads: a ms or two. */
const entriesMax = 1_000

const last: Position = { statusAt: Number.MAX_SAFE_INTEGER, id: '' }
const first: Position = { statusAt: -1, id: '' }

/**
 * Tasks by their status time. A page token is a position, not an offset. Where a filter has to look at more tasks than one
 * statement may read, the list is read and counted in steps, and others go on between them; what changes meanwhile may be counted as it was or
 * as it is. Source: specification §3.1.4.
 * @param entries how many entries of indexes one step reads
 */
export async function listTasks(db: Reader, query: TaskQuery, entries: number = entriesMax): Promise<TaskPage> {
  const {
    agentId,
    assigneeId,
    originatorId,
    contextId,
    state,
    statusSince,
    pageSize,
    pageToken,
    order = 'newest',
  } = query
  const projectId = (agentId ?? assigneeId ?? originatorId) && !query.isWithin ? undefined : query.projectId
  const given = present({ projectId, agentId, assigneeId, originatorId, contextId, state, statusSince })
  const list = new TaskList(db, given, { order, entries })
  const from = pageToken ? readPageToken(pageToken) : list.begin
  const total = await list.count()
  const rows = await list.read(from, pageSize + 1)
  const kept = rows.slice(0, pageSize).map(taskFromRow)
  const end = kept.at(-1)
  return {
    tasks: kept,
    nextPageToken: rows.length > pageSize && end ? writePageToken(end) : '',
    totalSize: total,
  }
}

/** The statements that find the ends of intervals, of so many entries. */
interface Steps {
  readonly edge: Statement<object, Position>
  readonly entries: number
}

class TaskList {
  readonly begin: Position
  readonly #end: Position
  readonly #db: Reader
  readonly #given: object
  readonly #statements: ReturnType<typeof statementsFor>
  readonly #entries: number
  /** True when one statement may read all entries of the list. */
  #isShort = false

  constructor(
    db: Reader,
    given: Partial<Record<FilterName, string | number>>,
    { order, entries }: { order: TaskOrder; entries: number },
  ) {
    this.begin = order === 'newest' ? last : first
    this.#end = order === 'newest' ? first : last
    this.#db = db
    this.#given = typeof given.contextId === 'string' ? { ...given, beginnerId: beginnerOf(given.contextId) } : given
    this.#statements = statementsFor(Object.keys(given) as FilterName[], order)
    this.#entries = entries
  }

  /** Counts the tasks of the list. */
  async count(): Promise<number> {
    const { byCounters, first, parts } = this.#statements
    const all = this.#interval(this.begin, this.#end, this.#entries + 1)
    const { seen, total } = (await this.#db.get(byCounters ?? first, all))!
    this.#isShort = seen <= this.#entries
    if (byCounters || this.#isShort) return total
    let sum = 0
    for (const { count, edge } of parts) {
      await this.#walk(this.begin, { edge, entries: this.#entries }, async (interval) => {
        sum += (await this.#db.get(count, interval))!.total
        return false
      })
    }
    return sum
  }

  /** Reads the first tasks after a position. After `count`. */
  async read(after: Position, limit: number): Promise<TaskRow[]> {
    const { page, isExact, edge, parts } = this.#statements
    if (isExact || this.#isShort) {
      return this.#db.all(page, { limit, ...this.#interval(after, this.#end, this.#entries * 2) })
    }
    const rows: TaskRow[] = []
    const entries = Math.max(1, Math.floor(this.#entries / parts.length))
    await this.#walk(after, { edge, entries }, async (interval) => {
      rows.push(...(await this.#db.all(page, { limit: limit - rows.length, ...interval })))
      return rows.length === limit
    })
    return rows
  }

  /** Reads one interval after the other, until `read` has enough. What changes meanwhile gets a newer status: it leaves its interval. */
  #walk(after: Position, { edge, entries }: Steps, read: (interval: object) => Promise<boolean>): Promise<void> {
    return walk(
      after,
      (from) => this.#db.get(edge, this.#interval(from, this.#end, entries)),
      // Rows that arrive between the two statements are read too.
      (from, edge = this.#end) => read(this.#interval(from, edge, entries * 2)),
    )
  }

  #interval(from: Position, edge: Position, entries: number): object {
    return { edgeAt: edge.statusAt, edgeId: edge.id, entries, ...this.#given, ...from }
  }
}

/** The token of the page after an answer that has room for only the first tasks of a page. */
export function nextPageToken(page: TaskPage, sent: readonly { readonly task: Task }[]): string {
  const last = sent.at(-1)
  return last && sent.length < page.tasks.length ? writePageToken(last.task) : page.nextPageToken
}

function present(
  values: Record<FilterName, string | number | undefined>,
): Partial<Record<FilterName, string | number>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function writePageToken(task: Task): string {
  return Buffer.from(`${task.statusAt}/${task.id}`).toString('base64url')
}

function readPageToken(token: string): Position {
  const match = /^(\d{1,15})\/([\w:.-]{1,255})$/.exec(Buffer.from(token, 'base64url').toString('utf8'))
  if (!match) {
    throw new Problem('invalid-request', {
      field: 'pageToken',
      detail: 'pageToken: is not a token of this gateway.',
      remedy: 'use-page-token',
    })
  }
  return { statusAt: Number(match[1]), id: match[2]! }
}

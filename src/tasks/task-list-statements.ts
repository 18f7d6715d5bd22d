import { limited, p, type SQL, type Statement, sql, statement } from '../storage/statement.ts'
import { totalByCounters } from './task-count-store.ts'
import { type FilterName, rangesOf, type TaskRange } from './task-ranges.ts'
import { type TaskRow, taskColumns } from './task-store.ts'

export type TaskOrder = 'newest' | 'oldest'

/** A place in a list, by the time of the status. */
export interface Position {
  readonly statusAt: number
  readonly id: string
}

/** The outcome of a count. `seen`: entries of the ranges, with those that do not match; at least as many as there are. */
interface Count {
  readonly total: number
  readonly seen: number
}

/** The statements of a list. Each reads a bounded number of entries of each range. */
interface ListStatements {
  /** True when every entry of the ranges is in the list. */
  readonly isExact: boolean
  /** The first that match in an interval. */
  readonly page: Statement<object, TaskRow>
  /** The total by the counters. undefined: they do not have it. */
  readonly byCounters: Statement<object, Count> | undefined
  /** Counts up to `entries` of all ranges. */
  readonly first: Statement<object, Count>
  /** The end of an interval that has at most `entries` entries of each range. undefined: no range has so many left. */
  readonly edge: Statement<object, Position>
  readonly parts: readonly PartStatements[]
}

/** The statements of one range, which can be counted without the others. */
interface PartStatements {
  /** Counts in an interval. */
  readonly count: Statement<object, Count>
  /** The end of an interval that has `entries` entries. undefined: fewer are left. */
  readonly edge: Statement<object, Position>
}

const prepared = new Map<string, ListStatements>()

/** The statements for each combination of filters, so that each is prepared once. */
export function statementsFor(names: readonly FilterName[], order: TaskOrder): ListStatements {
  const shape = [order, ...names].join()
  const known = prepared.get(shape)
  if (known) return known
  const made = statementsOf(names, orders[order])
  prepared.set(shape, made)
  return made
}

function statementsOf(names: readonly FilterName[], order: Order): ListStatements {
  const ranges = rangesOf(names).map(({ within, also }) => ({ within: [...within, order.after], also }))
  const intervals = ranges.map(({ within, also }) => ({ within: [...within, order.upTo], also }))
  const isExact = ranges.every(({ also }) => also.length === 0)
  return {
    isExact,
    page: statement(sql`select ${taskColumns} from task
      where id in (${unionOf(isExact ? ranges.map((one) => firstIn(one, order)) : intervals.map((one) => firstMatches(one, order)))}) ${order.by} ${limited}`),
    byCounters: totalByCounters(names, !isExact),
    first: statement(countOf(sql`${unionOf(ranges.map((one) => matchesIn(one, order)))} limit ${entries}`)),
    edge: firstEdge(ranges, order),
    parts: ranges.map((range, index) => ({
      count: statement(countOf(matchesIn(intervals[index]!, order))),
      edge: firstEdge([range], order),
    })),
  }
}

interface Order {
  readonly by: SQL
  readonly after: SQL
  readonly upTo: SQL
}

const orders: Record<TaskOrder, Order> = {
  newest: orderOf(sql`order by status_at desc, id desc`, sql`<`, sql`>=`),
  oldest: orderOf(sql`order by status_at, id`, sql`>`, sql`<=`),
}

function orderOf(by: SQL, after: SQL, upTo: SQL): Order {
  return {
    by,
    after: sql`(status_at, id) ${after} (${p('statusAt')}, ${p('id')})`,
    upTo: sql`(status_at, id) ${upTo} (${p('edgeAt')}, ${p('edgeId')})`,
  }
}

const entries = sql`cast(${p('entries')} as bigint)`

const allOf = (terms: readonly SQL[]): SQL => sql.join([...terms], sql` and `)
const unionOf = (parts: readonly SQL[]): SQL => sql.join([...parts], sql` union all `)

function firstIn(range: TaskRange, { by }: Order): SQL {
  return sql`select id from (select id from task where ${allOf(range.within)} ${by} ${limited}) as found`
}

/** The entries are in their order: the first that match are the first of the list. No filter is inside, so only the index of the range finds them. */
function firstMatches(range: TaskRange, order: Order): SQL {
  return sql`select id from (select id from (${entriesIn(range, order)}) as entry where matches = 1 ${limited}) as found`
}

function matchesIn(range: TaskRange, order: Order): SQL {
  return sql`select matches from (${entriesIn(range, order)}) as entry`
}

function entriesIn(range: TaskRange, { by }: Order): SQL {
  const matches = range.also.length === 0 ? sql`1` : sql`case when ${allOf(range.also)} then 1 else 0 end`
  return sql`select id, ${matches} as matches from task where ${allOf(range.within)} ${by} limit ${entries}`
}

function countOf(matches: SQL): SQL {
  return sql`select count(*) as "seen", cast(coalesce(sum(matches), 0) as bigint) as "total" from (${matches}) as counted`
}

function firstEdge(ranges: readonly TaskRange[], order: Order): Statement<object, Position> {
  return statement(sql`select status_at as "statusAt", id from (${unionOf(ranges.map((one) => edgeOf(one, order)))}) as edges
    ${order.by} limit 1`)
}

function edgeOf(range: TaskRange, { by }: Order): SQL {
  return sql`select status_at, id from (select status_at, id from task where ${allOf(range.within)} ${by}
    limit 1 offset ${entries} - 1) as last`
}

import { walk } from '../../lib/walk.ts'
import type { Reader } from '../../storage/database.ts'
import { limited, p, type SQL, type Statement, sql, statement } from '../../storage/statement.ts'

export type MailOrder = 'oldest' | 'newest'

/** A part of an index of mail: what is after one messageId, up to another, in the order of the list. */
export interface IdInterval {
  /** exclusive */
  readonly after: string
  /** inclusive */
  readonly upTo: string
  /** The most entries that are looked at. */
  readonly entries: number
}

/** The most entries that one statement looks at: a ms or two. */
const entriesMax = 1_000

/** A messageId before all others in an order, and one after them. */
export const beginOf = (order: MailOrder): string => (order === 'oldest' ? '' : 'N')
const endOf = (order: MailOrder): string => (order === 'oldest' ? 'N' : '')

const entries = sql`cast(${p('entries')} as bigint)`

/** The condition that a messageId is in the interval. */
export function inInterval(id: SQL, order: MailOrder): SQL {
  return order === 'oldest'
    ? sql`${id} > ${p('after')} and ${id} <= ${p('upTo')}`
    : sql`${id} < ${p('after')} and ${id} >= ${p('upTo')}`
}

/** The messageId in its order, and as many entries of the interval as are looked at. */
export function orderedEntries(id: SQL, order: MailOrder): SQL {
  return sql`order by ${id} ${sql.raw(order === 'oldest' ? 'asc' : 'desc')} limit ${entries}`
}

/** The statement that finds the end of an interval: the last of so many entries after `after`. */
export function edgeStatement(from: SQL, id: SQL, order: MailOrder): Statement<object, { id: string }> {
  const after = order === 'oldest' ? sql`${id} > ${p('after')}` : sql`${id} < ${p('after')}`
  return statement(sql`select ${id} as id ${from} and ${after}
    order by ${id} ${sql.raw(order === 'oldest' ? 'asc' : 'desc')} limit 1 offset ${entries} - 1`)
}

const threadIndex = sql`from message m where m.thread_id = ${p('threadId')} and m.thread_id <> ''`

/** The ends of intervals of a thread. */
export const threadEdges: Record<MailOrder, Statement<object, { id: string }>> = {
  oldest: edgeStatement(threadIndex, sql`m.id`, 'oldest'),
  newest: edgeStatement(threadIndex, sql`m.id`, 'newest'),
}

/**
 * A subquery: the ids of the message that begins the thread `threadId`, and of the first `limit` others in an interval. The entries are in
 * their order: the first that are visible are the first of the list.
 * @param isVisible a condition on `m`: its id, project and sender
 */
export function idsInThread(isVisible: SQL, order: MailOrder): SQL {
  const interval = inInterval(sql`m.id`, order)
  return sql`select m.id from message m where m.id = ${p('threadId')} and ${interval} and ${isVisible}
    union all select id from (select m.id from (select m.id, m.project_id, m.sender_id ${threadIndex} and m.id <> ${p('threadId')}
      and ${interval} ${orderedEntries(sql`m.id`, order)}) m where ${isVisible} ${limited}) page`
}

/**
 * Reads mail of a list that may have to look at much more of an index than it finds. The list is read in intervals, and others go on between
 * them.
 */
export class MailSteps {
  readonly #db: Reader
  readonly #edge: Statement<object, { id: string }> | undefined
  readonly #params: object
  readonly #order: MailOrder
  readonly #entries: number
  /** True when the rest is no longer than one interval. */
  #isShort: boolean

  /** @param edge finds the ends of intervals; undefined: the index has exactly the list */
  constructor(
    db: Reader,
    edge: Statement<object, { id: string }> | undefined,
    { order, entries = entriesMax, params }: { order: MailOrder; entries?: number; params: object },
  ) {
    this.#db = db
    this.#edge = edge
    this.#params = params
    this.#order = order
    this.#entries = entries
    this.#isShort = edge === undefined
  }

  /** Reads the next items, `limit` of them unless there are fewer. `read` reads them in an interval. */
  async next<Item>(
    after: string,
    limit: number,
    read: (interval: IdInterval, limit: number) => Promise<readonly Item[]>,
  ): Promise<Item[]> {
    const items: Item[] = []
    const edgeAfter = async (from: string): Promise<string | undefined> => {
      if (this.#isShort || !this.#edge) return undefined
      const edge = await this.#db.get(this.#edge, { after: from, entries: this.#entries, ...this.#params })
      this.#isShort = edge === undefined
      return edge?.id
    }
    await walk(after, edgeAfter, async (from, edge = endOf(this.#order)) => {
      // Mail that arrives between the two statements is read too.
      const interval = { after: from, upTo: edge, entries: this.#entries * 2 }
      items.push(...(await read(interval, limit - items.length)))
      return items.length >= limit
    })
    return items
  }
}

import { atLast, type Transaction } from '../storage/database.ts'
import { pipelined } from '../storage/pipelined.ts'
import { RowsStatement } from '../storage/rows.ts'
import { p, type SQL, type Statement, sql, statement } from '../storage/statement.ts'
import type { Task } from './task.ts'

const parties = { agentId: 'agent_id', assigneeId: 'assignee_id', originatorId: 'originator_id' } as const
type PartyName = keyof typeof parties
const partyNames = Object.keys(parties) as PartyName[]

/** The parties by which the tasks of each project and state are counted; without any: all of them. */
const counters: readonly (readonly PartyName[])[] = [
  [],
  ['agentId'],
  ['assigneeId'],
  ['originatorId'],
  ['agentId', 'originatorId'],
]
/** The value of a counter in place of a party that it does not look at. */
const anyone = ''

type CountedTask = Pick<Task, PartyName | 'projectId' | 'state'>

/** A task before and after it moved to another state or assignee. */
interface Change {
  /** undefined: the task is new. */
  readonly before?: CountedTask | undefined
  readonly after: CountedTask
}

const add = new RowsStatement(
  'text text text text text bigint',
  (rows) => sql`insert into task_count (agent_id, assignee_id, originator_id, project_id, state, total) values ${rows}
    on conflict (agent_id, assignee_id, originator_id, project_id, state)
    do update set total = task_count.total + excluded.total`,
)

/**
 * Counts a change of a task at the end of the transaction: after the events of the change, which lock the log of the task's
 * project. So no other transaction has locked the counters of that project, and two gateways never wait for each other here.
 */
export function countTask(tx: Transaction, change: Change): void {
  tx.beforeCommit(addChanges, change)
}

const addChanges = atLast(async (tx: Transaction, changes: readonly Change[]) => pipelined(add.run(tx, sumUp(changes))))

/** The rows that move the counters: one for each that the changes do not leave as it is. */
function sumUp(changes: readonly Change[]): (string | number)[][] {
  // Many changes that share a commit are of the same parties.
  const alike = new Map<string, { readonly task: CountedTask; total: number }>()
  const note = (task: CountedTask, one: 1 | -1): void => {
    const name = `${task.agentId} ${task.assigneeId} ${task.originatorId} ${task.projectId} ${task.state}`
    const known = alike.get(name)
    if (known) known.total += one
    else alike.set(name, { task, total: one })
  }
  for (const { before, after } of changes) {
    if (before) note(before, -1)
    note(after, 1)
  }
  const sums = new Map<string, { readonly key: readonly string[]; total: number }>()
  for (const { task, total } of alike.values()) {
    for (const names of counters) {
      const key = [
        ...partyNames.map((name) => (names.includes(name) ? task[name] : anyone)),
        task.projectId,
        task.state,
      ]
      const name = key.join(' ')
      const sum = sums.get(name)
      if (sum) sum.total += total
      else sums.set(name, { key, total })
    }
  }
  return [...sums.values()].filter(({ total }) => total !== 0).map(({ key, total }) => [...key, total])
}

/**
 * The statement that reads the total of a list with these filters from the counters. undefined: no counter has it.
 * @param seesAll whether `seen` is how many tasks the parties have, in all states and projects; else it is the total
 */
export function totalByCounters(
  filters: readonly string[],
  seesAll: boolean,
): Statement<object, { total: number; seen: number }> | undefined {
  const given = partyNames.filter((name) => filters.includes(name))
  const others = filters.filter((name) => !(name in parties))
  const isCounted = counters.some((names) => names.join() === given.join())
  if (!isCounted || others.some((name) => name !== 'projectId' && name !== 'state')) return undefined
  const terms = partyNames.map((name) => sql`${sql.raw(parties[name])} = ${given.includes(name) ? p(name) : anyone}`)
  const also: SQL[] = []
  if (others.includes('projectId')) also.push(sql`project_id = ${p('projectId')}`)
  if (others.includes('state')) also.push(sql`state = ${p('state')}`)
  const where = sql.join(seesAll ? terms : [...terms, ...also], sql` and `)
  const matching =
    seesAll && also.length > 0 ? sql`case when ${sql.join(also, sql` and `)} then total else 0 end` : sql`total`
  return statement(sql`select cast(coalesce(sum(${matching}), 0) as bigint) as "total",
    cast(coalesce(sum(total), 0) as bigint) as "seen" from task_count where ${where}`)
}

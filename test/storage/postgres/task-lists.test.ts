import pg from 'pg'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Reader } from '../../../src/storage/database.ts'
import { connectionOptions } from '../../../src/storage/postgres/connection-options.ts'
import { toQuery } from '../../../src/storage/postgres/query.ts'
import type { Statement } from '../../../src/storage/statement.ts'
import { listTasks, type TaskQuery } from '../../../src/tasks/list-tasks.ts'
import { listOpenTasks } from '../../../src/tasks/open-tasks.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { createSchema } from '../../support/schemas.ts'
import { onPostgres, openStore } from '../../support/store.ts'

const tasks = 80_000
const pageSize = 50
/** A few steps: PostgreSQL sorts the rest of a list that is no longer, and reads a step of a longer one in the order of its index. */
const rowsMax = 6_000

/** One of a hundred was handed over. Half are of one context. */
const fill = `insert into task (id, project_id, context_id, agent_id, assignee_id, originator_id, state, version, status_at, priority,
    tagged_concepts, message_count, created_at, updated_at)
  select 'task-' || i, 'north', case when i % 2 = 0 then 'long' else 'context-' || i end, 'agent-' || i % 4, 'agent-' || case when i % 100 = 0 then i + 1 else i end % 4, 'peer',
    case when i % 10 = 0 then 'submitted' else 'completed' end, 1, i, 'normal', '[]', 1, i, i from generate_series(1, ${tasks}) i`

const count = `insert into task_count (agent_id, assignee_id, originator_id, project_id, state, total)
  select agent_id, '', originator_id, project_id, state, count(*) from task group by agent_id, originator_id, project_id, state
  union all select '', assignee_id, '', project_id, state, count(*) from task group by assignee_id, project_id, state`

const queries: readonly Partial<TaskQuery>[] = [
  { agentId: 'agent-1' },
  { agentId: 'agent-1', state: 'completed' },
  { assigneeId: 'agent-1' },
  { assigneeId: 'agent-1', state: 'completed' },
  { assigneeId: 'agent-1', isWithin: true },
  { originatorId: 'peer' },
  { agentId: 'agent-1', originatorId: 'peer' },
  { state: 'completed' },
  {},
  { contextId: 'long' },
  { contextId: 'long', state: 'rejected' },
  { contextId: 'long', agentId: 'agent-1', originatorId: 'nobody', state: 'completed' },
  { agentId: 'agent-1', originatorId: 'peer', state: 'rejected' },
  { agentId: 'agent-1', statusSince: 0 },
  { agentId: 'agent-1', originatorId: 'nobody', state: 'completed', statusSince: 0 },
  { assigneeId: 'agent-1', projectId: 'south', isWithin: true },
]

interface Plan {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly Plans?: readonly Plan[]
}

// PostgreSQL may take a condition for rare, and then sorts all that it finds instead of reading a page in the order of an index.
test.runIf(onPostgres)(
  'a statement of a list reads at most a step, or a page of each state and part, once PostgreSQL has counted the tasks',
  async () => {
    using directory = dataDirectory()
    const url = await createSchema(directory.path)
    await (await openStore(directory.path, systemClock)).close()
    const client = new pg.Client(connectionOptions(url))
    await client.connect()
    await client.query(fill)
    await client.query(count)
    await client.query('analyze task')

    const long: string[] = []
    let run = 0
    const rowsOf = async (statement: unknown, params: object) => {
      const { text, values } = toQuery(statement as Statement, params)
      const { rows } = await client.query(`explain (analyze, format json) ${text}`, values)
      const most = mostRows(rows[0]['QUERY PLAN'][0].Plan as Plan)
      if (most > rowsMax) long.push(`${most} rows: ${text}`)
      run++
      return (await client.query(text, values)).rows
    }
    const reader = {
      all: rowsOf,
      get: async (statement: unknown, params: object) => (await rowsOf(statement, params))[0],
    } as Reader
    for (const query of queries) await listTasks(reader, { projectId: 'north', pageSize, ...query })
    await listOpenTasks(reader, 'agent-1')
    await client.end()
    expect(run).toBeGreaterThan(queries.length * 2)
    expect(long).toEqual([])
  },
)

function mostRows(plan: Plan): number {
  return Math.max(plan['Actual Rows'], ...(plan.Plans ?? []).map(mostRows))
}

import pg from 'pg'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/lib/clock.ts'
import type { Reader } from '../../../src/storage/database.ts'
import { connectionOptions } from '../../../src/storage/postgres/connection-options.ts'
import { toQuery } from '../../../src/storage/postgres/query.ts'
import type { Statement } from '../../../src/storage/statement.ts'
import { listTasks, type TaskQuery } from '../../../src/tasks/list-tasks.ts'
import { listOpenTasks } from '../../../src/tasks/open-tasks.ts'
import { taskStates } from '../../../src/tasks/state.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { createSchema } from '../../support/schemas.ts'
import { onPostgres, openStore } from '../../support/store.ts'

const tasks = 20_000
const pageSize = 50
/** A page of each state, of the tasks that were handed over and of the others, with the row that shows whether more follow. */
const rowsMax = 2 * taskStates.length * (pageSize + 1)

/** One of a hundred was handed over. */
const fill = `insert into task (id, project_id, context_id, agent_id, assignee_id, originator_id, state, version, status_at, priority,
    tagged_concepts, message_count, created_at, updated_at)
  select 'task-' || i, 'north', 'context-' || i, 'agent-' || i % 4, 'agent-' || case when i % 100 = 0 then i + 1 else i end % 4, 'peer',
    case when i % 10 = 0 then 'submitted' else 'completed' end, 1, i, 'normal', '[]', 1, i, i from generate_series(1, ${tasks}) i`

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
]

interface Plan {
  readonly 'Node Type': string
  readonly 'Actual Rows': number
  readonly Plans?: readonly Plan[]
}

// PostgreSQL may take a condition for rare, and then sorts all that it finds instead of reading a page in the order of an index.
test.runIf(onPostgres)(
  'a list reads at most a page of each state and part, once PostgreSQL has counted the tasks',
  async () => {
    using directory = dataDirectory()
    const url = await createSchema(directory.path)
    await (await openStore(directory.path, systemClock)).close()
    const client = new pg.Client(connectionOptions(url))
    await client.connect()
    await client.query(fill)
    await client.query('analyze task')

    const run: { readonly statement: Statement; readonly params: object }[] = []
    const note = async (statement: unknown, params: object) => {
      run.push({ statement: statement as Statement, params })
      return []
    }
    const reader = { all: note, get: async () => undefined } as unknown as Reader
    for (const query of queries) await listTasks(reader, { projectId: 'north', pageSize, ...query })
    await listOpenTasks(reader, 'agent-1')

    const long: string[] = []
    for (const { statement, params } of run) {
      const { text, values } = toQuery(statement, params)
      const { rows } = await client.query(`explain (analyze, format json) ${text}`, values)
      const most = mostRows(rows[0]['QUERY PLAN'][0].Plan as Plan)
      if (most > rowsMax) long.push(`${most} rows: ${text}`)
    }
    await client.end()
    expect(run.length).toBeGreaterThan(queries.length)
    expect(long).toEqual([])
  },
)

function mostRows(plan: Plan): number {
  return Math.max(plan['Actual Rows'], ...(plan.Plans ?? []).map(mostRows))
}

import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import type { Database } from '../../src/storage/database.ts'
import { listTasks, type TaskQuery } from '../../src/tasks/list-tasks.ts'
import type { Task } from '../../src/tasks/task.ts'
import { insertTask } from '../../src/tasks/task-store.ts'
import { type TaskState, taskStates } from '../../src/words/task-states.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { spyOn } from '../support/spy-reader.ts'
import { openStore } from '../support/store.ts'
import { newTask } from './new-task.ts'

let directory: ReturnType<typeof dataDirectory>
let db: Database
const tasks: Task[] = []
let made = 0

beforeAll(async () => {
  directory = dataDirectory()
  db = await openStore(directory.path, systemClock)
  await insertMany(10_000)
})
afterAll(async () => {
  await db.close()
  directory[Symbol.dispose]()
})

/** Many share an instant, so that the id has to tell them apart. */
function makeTask(statusAt: number): Task {
  const n = made++
  const fields = {
    id: `task-${(n * 7919) % 100_003}`,
    projectId: n % 5 === 0 ? 'south' : 'north',
    contextId: n % 10 === 3 ? 'long' : `context-${n % 1_000}`,
    agentId: `agent-${n % 2}`,
    assigneeId: `agent-${n % 3}`,
    originatorId: `agent-${n % 7}`,
    state: taskStates[(n % 11) % taskStates.length] as TaskState,
  }
  return newTask(fields, statusAt)
}

async function insertMany(count: number, since = 0): Promise<void> {
  const added = Array.from({ length: count }, (_, i) => makeTask(since + Math.floor(i / 4)))
  await db.transaction(async (tx) => {
    for (const task of added) await insertTask(tx, task)
  })
  tasks.push(...added)
}

/** The expected list, computed in the simplest way. */
function expected(query: Partial<TaskQuery>): string[] {
  const wanted = tasks.filter(
    (task) =>
      (query.agentId !== undefined ||
        query.assigneeId !== undefined ||
        query.originatorId !== undefined ||
        task.projectId === query.projectId) &&
      (query.agentId === undefined || task.agentId === query.agentId) &&
      (query.assigneeId === undefined || task.assigneeId === query.assigneeId) &&
      (query.originatorId === undefined || task.originatorId === query.originatorId) &&
      (query.contextId === undefined || task.contextId === query.contextId) &&
      (query.state === undefined || task.state === query.state) &&
      (query.statusSince === undefined || task.statusAt >= query.statusSince),
  )
  return wanted.sort((a, b) => b.statusAt - a.statusAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)).map(({ id }) => id)
}

async function readAll(
  query: Omit<TaskQuery, 'by'>,
  { between, entries }: { between?: () => Promise<void>; entries?: number } = {},
): Promise<{ ids: string[]; totals: number[] }> {
  const ids: string[] = []
  const totals: number[] = []
  let pageToken: string | undefined
  do {
    const page = await listTasks(db, { ...query, pageToken }, entries)
    expect(page.tasks.length).toBeLessThanOrEqual(query.pageSize)
    ids.push(...page.tasks.map(({ id }) => id))
    totals.push(page.totalSize)
    pageToken = page.nextPageToken || undefined
    await between?.()
  } while (pageToken)
  return { ids, totals }
}

test('pages have exactly the matching tasks, in order, for all filters and sizes', async () => {
  const query = fc.record(
    {
      agentId: fc.constantFrom('agent-0', 'agent-1'),
      assigneeId: fc.constantFrom('agent-0', 'agent-2', 'nobody'),
      originatorId: fc.constantFrom('agent-1', 'agent-6'),
      contextId: fc.constantFrom('context-5', 'context-500', 'long'),
      state: fc.constantFrom(...taskStates),
      statusSince: fc.integer({ min: 0, max: 2_600 }),
      order: fc.constantFrom('newest', 'oldest'),
    },
    { requiredKeys: [] },
  )
  // The large ones: one step reads everything.
  const stepSize = fc.constantFrom(100, 600, 1_000, 20_000)
  await fc.assert(
    fc.asyncProperty(query, fc.integer({ min: 20, max: 100 }), stepSize, async (given, pageSize, entries) => {
      const { ids, totals } = await readAll({ projectId: 'north', ...given, pageSize }, { entries })
      const newest = expected({ projectId: 'north', ...given })
      const wanted = given.order === 'oldest' ? newest.reverse() : newest
      expect(ids).toEqual(wanted)
      expect(new Set(totals)).toEqual(new Set([wanted.length]))
    }),
    { numRuns: 40 },
  )
})

test('tasks that arrive while pages are read neither repeat nor hide one', async () => {
  const wanted = expected({ assigneeId: 'agent-1', state: 'working' })
  let now = 1_000_000
  const { ids } = await readAll(
    { projectId: 'north', assigneeId: 'agent-1', state: 'working', pageSize: 50 },
    {
      between: async () => {
        now += 1_000
        await insertMany(20, now)
      },
    },
  )
  expect(ids).toEqual(wanted)
})

test('a filter that matches nothing looks at a long context in steps, and at a short one with two statements', async () => {
  const query = { projectId: 'north', originatorId: 'nobody', state: 'working', pageSize: 10 } as const
  const length = tasks.filter(({ contextId }) => contextId === 'long').length
  const long = spyOn(db)
  expect(await listTasks(long.reader, { ...query, contextId: 'long' }, 100)).toEqual({
    tasks: [],
    nextPageToken: '',
    totalSize: 0,
  })
  expect(length).toBeGreaterThan(900)
  expect(long.seen.statements).toBeGreaterThanOrEqual((4 * length) / 100)
  expect(long.seen.most).toBe(200)
  const short = spyOn(db)
  await listTasks(short.reader, { ...query, contextId: 'context-5' }, 100)
  expect(short.seen.statements).toBe(2)
  const pair = spyOn(db)
  await listTasks(pair.reader, { ...query, agentId: 'agent-1' }, 100)
  expect(pair.seen.statements).toBe(2)
})

test('a page that is read in steps neither repeats nor hides a task while others arrive', async () => {
  const query = { projectId: 'north', contextId: 'long', originatorId: 'agent-3', state: 'working' } as const
  const wanted = expected(query)
  expect(wanted.length).toBeGreaterThan(6)
  let now = 2_000_000
  const between = async (): Promise<void> => {
    now += 1_000
    await insertMany(40, now)
  }
  const { ids } = await readAll({ ...query, pageSize: 2 }, { between, entries: 20 })
  expect(ids).toEqual(wanted)
})

test('ten thousand tasks are walked without reading them all for each page', async () => {
  const { ids } = await readAll({ projectId: 'north', pageSize: 100 })
  expect(ids).toEqual(expected({ projectId: 'north' }))
})

test.each(['x', 'AAAA', Buffer.from('1/').toString('base64url'), Buffer.from('/id').toString('base64url')])(
  'the page token %j is refused by its name',
  async (pageToken) => {
    await expect(listTasks(db, { projectId: 'north', pageSize: 10, pageToken })).rejects.toMatchObject({
      code: 'invalid-request',
      field: 'pageToken',
    })
  },
)

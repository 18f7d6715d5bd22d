import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '../../src/storage/database.ts'
import { sql, statement } from '../../src/storage/statement.ts'
import { listTasks, type TaskQuery } from '../../src/tasks/list-tasks.ts'
import type { Task } from '../../src/tasks/task.ts'
import {
  assignTaskRow,
  insertTask,
  lockTask,
  moveTaskRow,
  type TaskRow,
  taskColumns,
  taskFromRow,
} from '../../src/tasks/task-store.ts'
import { taskStates } from '../../src/words/task-states.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { openStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { counters, countersOfTasks } from './counters.ts'
import { newTask } from './new-task.ts'

const agents = ['agent-0', 'agent-1', 'agent-2'] as const
const projectOf = (agent: string): string => (agent === 'agent-2' ? 'south' : 'north')
const contexts = ['context-0', 'context-1'] as const

let directory: ReturnType<typeof dataDirectory>
let db: Database
const clock = new FakeClock()
const ids: string[] = []

beforeAll(async () => {
  directory = dataDirectory()
  db = await openStore(directory.path, clock)
})
afterAll(async () => {
  await db.close()
  directory[Symbol.dispose]()
})

const agent = fc.constantFrom(...agents)
/** Each throws at its end if it `fails`: what it has changed is rolled back, and nothing of it may be counted. */
const act = fc.record({
  kind: fc.constantFrom('send', 'send', 'move', 'assign'),
  agentId: agent,
  originatorId: fc.constantFrom(...agents, 'operator'),
  contextId: fc.constantFrom(...contexts),
  state: fc.constantFrom(...taskStates),
  which: fc.nat(),
  fails: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
})
const query = fc.record(
  {
    isWithin: fc.boolean(),
    agentId: agent,
    assigneeId: fc.constantFrom(...agents, 'operator'),
    originatorId: fc.constantFrom(...agents, 'operator'),
    contextId: fc.constantFrom(...contexts),
    state: fc.constantFrom(...taskStates),
    age: fc.integer({ min: 0, max: 20 }),
  },
  { requiredKeys: [] },
)

test('a total is what a plain count finds, whatever changes together, for any filters', async () => {
  const rounds = fc.array(fc.array(act, { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(
      rounds,
      fc.array(query, { minLength: 4, maxLength: 8 }),
      fc.constantFrom(3, 20, 1_000),
      async (all, queries, entries) => {
        for (const acts of all) {
          clock.advance(1)
          await Promise.all(acts.map((one) => change(one).catch(expectFailure)))
        }
        const stored = (await db.all(allTasks, {})).map(taskFromRow)
        for (const { age, ...rest } of queries) {
          const given = { ...rest, ...(age === undefined ? {} : { statusSince: clock.now() - age }) }
          const wanted = { projectId: 'north', ...given, by: 'reader', pageSize: 1 }
          const page = await listTasks(db, wanted, entries)
          expect([given, page.totalSize]).toEqual([given, countPlainly(stored, { projectId: 'north', ...given })])
        }
      },
    ),
    { numRuns: 30 },
  )
  expect(ids.length).toBeGreaterThan(100)
})

const allTasks = statement<object, TaskRow>(sql`select ${taskColumns} from task`)
const failure = new Error('of the test')
let made = 0

function expectFailure(error: unknown): void {
  if (error !== failure) throw error
}

type Act = typeof act extends fc.Arbitrary<infer Value> ? Value : never

function change({ kind, which, state, fails, ...fields }: Act): Promise<void> {
  return db.transaction(async (tx) => {
    const id = ids[which % Math.max(ids.length, 1)]
    if (kind === 'send' || id === undefined) {
      const task = newTask({ ...fields, id: `task-${made++}`, projectId: projectOf(fields.agentId) }, tx.now)
      await insertTask(tx, task)
      if (!fails) tx.onCommit(() => ids.push(task.id))
    } else {
      const task = (await lockTask(tx, id))!
      const isDone =
        kind === 'move'
          ? await moveTaskRow(tx, task, { ...task, state })
          : await assignTaskRow(tx, task, fields.originatorId)
      expect(isDone).toBe(true)
      // A move over what is no longer stored changes nothing.
      expect(await moveTaskRow(tx, task, { ...task, state: 'failed' })).toBe(false)
    }
    if (fails) throw failure
  })
}

function countPlainly(stored: readonly Task[], query: Omit<TaskQuery, 'pageSize' | 'by'>): number {
  const { isWithin, statusSince, projectId, ...given } = query
  const hasParty = given.agentId !== undefined || given.assigneeId !== undefined || given.originatorId !== undefined
  return stored.filter(
    (task) =>
      Object.entries(given).every(([name, value]) => task[name as keyof Task] === value) &&
      (statusSince === undefined || task.statusAt >= statusSince) &&
      ((hasParty && !isWithin) || task.projectId === projectId),
  ).length
}

test('everything that changes a task is counted, and a restart finds the same', async () => {
  const time = new FakeClock()
  using place = dataDirectory()
  const first = await startGateway({ dataDir: place.path, overrides: { clock: time } })
  const donna = await first.addAgent('donna', { access: 'public' })
  const mike = await first.addAgent('mike')
  await first.call('POST', '/v1/projects', { project: 'web' })
  const zoe = await first.addAgent('zoe', { project: 'web' })
  const send = async (from: TestAgent, to: string, message = {}) =>
    (await first.send(to, 'please', { key: from.key, message })).id
  const toDonna = await Promise.all([mike, mike, mike, mike, zoe, zoe].map((from) => send(from, 'donna')))
  const [question, done, canceled, handed] = toDonna as [string, string, string, string]
  await send(donna, 'mike')
  const expiresAt = new Date(time.now() + 1_000).toISOString()
  const expired = await send(mike, 'donna', { metadata: { expiresAt } })
  await first.move(donna, question, 'input-required', { message: 'which?' })
  await send(mike, 'donna', { taskId: question })
  await first.move(donna, done, 'completed')
  await first.move(mike, canceled, 'canceled')
  const handOff = { ref: handed, to: '@mike', message: 'yours' }
  expect((await first.call('POST', '/v1/claims/handoff', handOff, donna)).status).toBe(200)
  await until(
    () => {
      time.advance(1_000)
      return first.call('GET', `/v1/tasks/${expired}`, undefined, mike)
    },
    ({ body }) => body.state === 'failed',
  )
  await first.call('DELETE', '/v1/agents/mike')
  const listAll = async (gateway: TestGateway) => {
    const lists = [donna.key, zoe.key, gateway.adminKey].flatMap((key) =>
      ['', '?state=submitted', '?state=rejected', '?role=originator'].map((filter) => ({ key, filter })),
    )
    const answers = lists.map(({ key, filter }) => gateway.call('GET', `/v1/tasks${filter}`, undefined, { key }))
    for (const { body } of await Promise.all(answers)) expect(body.totalSize).toBe(body.tasks.length)
    return (await Promise.all(answers)).map(({ body }) => body.totalSize)
  }
  const totals = await listAll(first)
  expect(totals).toEqual([6, 3, 0, 1, 0, 0, 0, 2, 8, 3, 2, 0])
  expect(await counters(place.path)).toEqual(await countersOfTasks(place.path))
  await first.stop()

  await using second = await startGateway({ dataDir: place.path, overrides: { clock: time } })
  expect(await listAll(second)).toEqual(totals)
})

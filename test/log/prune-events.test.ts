import { afterEach, beforeEach, expect, test } from 'vitest'
import type { NewEvent } from '../../src/log/event.ts'
import { logBounds, readAudienceEvents, readProjectEvents } from '../../src/log/event-store.ts'
import { pruneEvents } from '../../src/log/prune-events.ts'
import { ensureProject } from '../../src/registry/projects/project-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { stepRows } from '../../src/storage/delete-in-batches.ts'
import { sql, statement } from '../../src/storage/statement.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { insertEvents } from '../support/insert-events.ts'
import { servedMs } from '../support/served-time.ts'
import { besideStore, openStore } from '../support/store.ts'

let directory: ReturnType<typeof dataDirectory>
let clock: FakeClock
let db: Database

beforeEach(async () => {
  directory = dataDirectory()
  clock = new FakeClock()
  db = await openStore(directory.path, clock)
  await ensureProject(db, 'north')
  await ensureProject(db, 'south')
})
afterEach(async () => {
  await db.close()
  directory[Symbol.dispose]()
})

const counts = statement<object, { events: number; audiences: number; gone: number }>(
  sql`select (select count(*) from event) as "events", (select count(*) from event_audience) as "audiences",
    (select sum(log_tail) from project) as "gone"`,
)
const never = new AbortController().signal
const event = (...audience: string[]): NewEvent => ({ type: 'agent.updated', actor: '@donna', audience, data: {} })
const append = (project: string, ...events: NewEvent[]) =>
  db.transaction((tx) => insertEvents(tx, project, events)).then((appended) => appended.map(({ logId }) => logId))
const kept = async (project: string) => (await readProjectEvents(db, project, 0, 10_000)).map(({ logId }) => logId)
const many = (count: number, ...audience: string[]) => Array.from({ length: count }, () => event(...audience))

/** Looks into the store itself: rows that no reader would ever show. */
async function audienceRows(): Promise<unknown[][]> {
  const keys = 'audience, project_id, log_id'
  const rows = await besideStore(directory.path, `select ${keys} from event_audience order by ${keys}`)
  return rows.map((row) => Object.values(row))
}

test('older events are removed, with their audience rows; events as old as the limit stay', async () => {
  await append('north', event('donna'), event('donna', 'mike'))
  await append('south', event('donna'))
  clock.advance(1_000)
  const limit = clock.now()
  await append('north', event('donna'))
  expect(await pruneEvents(db, limit, never)).toBe(3)
  expect(await kept('north')).toEqual([3])
  expect(await kept('south')).toEqual([])
  expect(await audienceRows()).toEqual([['donna', 'north', 3]])
  expect(await logBounds(db, 'north')).toEqual({ head: 3, prunedTo: 2 })
  expect(await logBounds(db, 'south')).toEqual({ head: 1, prunedTo: 1 })
  expect(await pruneEvents(db, limit, never)).toBe(0)
})

test('an empty pruned log continues with the next logId', async () => {
  await append('north', event(), event())
  clock.advance(1)
  await pruneEvents(db, clock.now(), never)
  expect(await kept('north')).toEqual([])
  expect(await append('north', event())).toEqual([3])
  expect(await logBounds(db, 'north')).toEqual({ head: 3, prunedTo: 2 })
})

test('an old event after a younger one is kept: only the beginning of the log is pruned', async () => {
  clock.advance(1_000)
  await append('north', event())
  clock.advance(-1_000)
  await append('north', event())
  clock.advance(500)
  expect(await pruneEvents(db, clock.now(), never)).toBe(0)
  expect(await kept('north')).toEqual([1, 2])
})

test('each transaction does one step, and the pruned-to mark always includes the removed events', async () => {
  await append('north', ...many(1_200, 'donna', 'mike'))
  await append('south', ...many(300, 'donna'))
  clock.advance(1)
  const steps: number[] = []
  const rows = async () => (await db.get(counts, {}))!
  const watched: Database = Object.assign(Object.create(db), {
    all: db.all.bind(db),
    get: db.get.bind(db),
    async transaction(work: Parameters<Database['transaction']>[0]) {
      const before = await rows()
      const result = await db.transaction(work)
      const after = await rows()
      steps.push(before.events - after.events + (before.audiences - after.audiences))
      expect(after.gone).toBe(1_500 - after.events)
      return result
    },
  })
  expect(await pruneEvents(watched, clock.now(), never)).toBe(1_500)
  expect(Math.max(...steps)).toBeLessThanOrEqual(stepRows)
  expect(await rows()).toEqual({ events: 0, audiences: 0, gone: 1_500 })
})

test('a stop ends it after the current step; the next pass removes the rest, also index rows', async () => {
  await append('north', ...many(1_200, 'donna'))
  clock.advance(1)
  const stopping = new AbortController()
  const pruning = pruneEvents(db, clock.now(), stopping.signal)
  stopping.abort()
  const first = await pruning
  expect(first).toBeLessThanOrEqual(stepRows)
  expect(await audienceRows()).toHaveLength(1_200)
  // No reader shows an index row without its event.
  expect(await readAudienceEvents(db, 'north', 'donna', 0, 10_000)).toHaveLength(1_200 - first)
  expect(await pruneEvents(db, clock.now(), never)).toBe(1_200 - first)
  expect(await audienceRows()).toEqual([])
})

test('writers continue while 20,000 events are removed', async () => {
  const count = 20_000
  await fill(count)
  clock.advance(1)
  let pruning = true
  const latencies: number[] = []
  const write = async () => {
    while (pruning) {
      const startedAt = servedMs()
      await append('north', event('donna'))
      latencies.push(servedMs() - startedAt)
    }
  }
  const writers = Array.from({ length: 8 }, write)
  expect(await pruneEvents(db, clock.now(), never)).toBe(count)
  pruning = false
  await Promise.all(writers)
  latencies.sort((a, b) => a - b)
  const p99 = latencies[Math.floor(latencies.length * 0.99)]!
  expect(latencies.length).toBeGreaterThan(200)
  expect(p99).toBeLessThan(250)
})

/** A log as it is after a month, written at once. */
async function fill(count: number): Promise<void> {
  const data = JSON.stringify({
    taskId: 'x'.repeat(36),
    previousState: 'submitted',
    newState: 'working',
    text: 'x'.repeat(300),
  })
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${count})`
  const statements = [
    `${numbers} insert into event (project_id, log_id, type, task_id, actor, data, created_at) select 'north', i, 'task.state_changed', 'task-' || (i / 4), '@donna', '${data}', ${clock.now()} from n`,
    `${numbers} insert into event_audience select 'agent_' || (i % 50), 'north', 'TASK_STATE_CHANGED', i from n`,
    `insert into event_audience select 'operator', 'north', '', log_id from event`,
    `update project set log_head = ${count} where id = 'north'`,
  ]
  for (const text of statements) await besideStore(directory.path, text)
}

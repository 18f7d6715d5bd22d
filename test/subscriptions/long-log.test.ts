import { expect, test, vi } from 'vitest'
import { operator } from '../../src/registry/callers/caller.ts'
import { defaultProject } from '../../src/registry/projects/project-store.ts'
import { findSubscription } from '../../src/registry/subscriptions/subscription-store.ts'
import { p, sql, statement } from '../../src/storage/statement.ts'
import { replayDeliveries } from '../../src/subscriptions/replay.ts'
import { resyncSubscription } from '../../src/subscriptions/resync.ts'
import { updateSubscription } from '../../src/subscriptions/update.ts'
import { insertEvents } from '../support/insert-events.ts'
import { Iterations } from '../support/iterations.ts'
import { messageSent } from '../wakes/builders.ts'
import { arrived, type Engine, openEngine } from '../wakes/engine.ts'

const id = 'WAKE_SUB:1'
const eventCount = 10_000
/** Events are read 200 at a time. */
const pages = eventCount / 200

/** A log of events of which one, the last, wakes a subscription that has not looked at any. */
async function openLongLog(): Promise<Engine> {
  const engine = await openEngine(async () => arrived)
  for (let written = 0; written < eventCount; written += 1_000) {
    await engine.db.transaction(async (tx) => {
      const events = Array.from({ length: 1_000 }, (_, index) => {
        const isLast = written + index === eventCount - 1
        const { data } = messageSent(0, { priority: isLast ? 'high' : 'low' })
        return { type: 'message.sent', actor: '@lola', audience: ['agent_donna'], data } as const
      })
      await insertEvents(tx, defaultProject, events)
    })
  }
  await engine.add([{ id, filters: { priority: 'high' } }])
  await engine.db.transaction((tx) => tx.run(place, { cursor: 0, dueAt: engine.clock.now() }))
  return engine
}

/** Appends copies of the first event, which wakes nobody. */
async function lengthen(engine: Engine, head: number): Promise<void> {
  await engine.db.transaction(async (tx) => {
    await tx.run(repeatEvents, { from: eventCount, to: head })
    await tx.run(repeatAudiences, { from: eventCount, to: head })
    await tx.run(growHead, { head })
  })
}

/** Runs an act, and requires that others could work at each page that it read. */
async function inSteps<T>(act: () => Promise<T>): Promise<T> {
  using iterations = new Iterations()
  const result = await act()
  expect(iterations.count).toBeGreaterThan(pages / 2)
  return result
}

const place = statement<{ cursor: number; dueAt: number | null }>(
  sql`update subscription set cursor_log_id = ${p('cursor')}, due_at = ${p('dueAt')}`,
)
// Copies of the first event and of its audience.
const numbers = sql`with recursive number (id) as (
  select cast(${p('from')} as bigint) + 1 union all select id + 1 from number where id < ${p('to')})`
const repeatEvents = statement<{ from: number; to: number }>(sql`insert into event
  (project_id, log_id, type, task_id, actor, actor_id, data, created_at) ${numbers}
  select e.project_id, number.id, e.type, e.task_id, e.actor, e.actor_id, e.data, e.created_at
  from number cross join event e where e.log_id = 1`)
const repeatAudiences = statement<{ from: number; to: number }>(sql`insert into event_audience
  (audience, project_id, log_id, trigger) ${numbers}
  select a.audience, a.project_id, number.id, a.trigger from number cross join event_audience a where a.log_id = 1`)
const growHead = statement<{ head: number }>(sql`update project set log_head = ${p('head')}`)
const stored = async ({ db }: Engine) => (await findSubscription(db, id))!

test('a resync counts a long log while others work', async () => {
  await using engine = await openLongLog()
  using _clock = eachLookTakes(0)
  const answer = await inSteps(() => resyncSubscription(engine.subscriptions, operator, id, 0))
  expect(answer).toMatchObject({ eventsReplayed: 1, lastLogId: eventCount })
  expect(await stored(engine)).toMatchObject({ cursorLogId: 0, dueAt: engine.clock.now() })
})

test('resyncs at the same time all count everything', async () => {
  await using engine = await openLongLog()
  using _clock = eachLookTakes(0)
  const resync = () => resyncSubscription(engine.subscriptions, operator, id, 0)
  const answers = await inSteps(() => Promise.all([resync(), resync(), resync()]))
  expect(answers.map(({ eventsReplayed }) => eventsReplayed)).toEqual([1, 1, 1])
})

test('a resync of a log that takes too long to count answers what it counted, and sends all of it', async () => {
  await using engine = await openLongLog()
  using _clock = eachLookTakes(1_000)
  const answer = await resyncSubscription(engine.subscriptions, operator, id, 0)
  expect(answer).toMatchObject({ eventsReplayed: 0, lastLogId: 0, countedTo: 200 })
  expect(await stored(engine)).toMatchObject({ cursorLogId: 0, dueAt: engine.clock.now() })
})

/** Replaces `performance.now`: each call returns a time that is `ms` later than the one before. */
function eachLookTakes(ms: number): Disposable {
  let now = performance.now()
  const spy = vi.spyOn(performance, 'now').mockImplementation(() => (now += ms))
  return { [Symbol.dispose]: () => spy.mockRestore() }
}

test('a replay looks for what matches in a long range while others work', async () => {
  await using engine = await openLongLog()
  await engine.db.transaction((tx) => tx.run(place, { cursor: eventCount, dueAt: null }))
  const range = { fromLogId: 1, toLogId: eventCount }
  const answer = await inSteps(() => replayDeliveries(engine.subscriptions, operator, id, range))
  expect(answer.eventsReplayed).toBe(1)
})

test('a replay of a range that takes too long to look through is refused', async () => {
  await using engine = await openLongLog()
  const head = eventCount + 50_000
  await lengthen(engine, head)
  await engine.db.transaction((tx) => tx.run(place, { cursor: head, dueAt: null }))
  const replay = replayDeliveries(engine.subscriptions, operator, id, { fromLogId: 1, toLogId: head })
  await expect(replay).rejects.toThrow(
    'among at most 50000. Send smaller ranges with fromLogId and toLogId, or use resync',
  )
})

test('other filters apply after what the old ones let pass, which is found while others work', async () => {
  await using engine = await openLongLog()
  await inSteps(() => updateSubscription(engine.subscriptions, operator, id, { filters: { priority: 'low' } }))
  expect((await stored(engine)).cursorLogId).toBe(eventCount - 1)
})

test('changes of the filters at the same time are made one after the other', async () => {
  await using engine = await openLongLog()
  const { generation } = await stored(engine)
  const change = (priority: 'high' | 'low') =>
    updateSubscription(engine.subscriptions, operator, id, { filters: { priority } })
  await Promise.all([change('low'), change('high'), change('low')])
  expect((await stored(engine)).generation).toBe(generation + 3)
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LogEvent } from '../../src/log/event.ts'
import { RecentEvents } from '../../src/log/recent-events.ts'

type Appended = LogEvent & { readonly audience: readonly string[] }

const projects = ['north', 'south']
const agents = ['agent_a', 'agent_b', 'agent_c']
const triggers = ['SENT_TO_ME', 'TASK_STATE_CHANGED', null] as const

const newEvent = fc.record({
  audience: fc.subarray(agents),
  taskId: fc.constantFrom('TASK:1', 'TASK:2', null),
  trigger: fc.constantFrom(...triggers),
})
const project = fc.constantFrom(...projects)
const step = fc.oneof(
  fc.record({ do: fc.constant('append' as const), project, events: fc.array(newEvent, { maxLength: 6 }) }),
  fc.record({ do: fc.constant('appended elsewhere' as const), project, notified: fc.boolean() }),
)
const question = fc.record({
  project,
  key: fc.constantFrom(...agents, 'TASK:1', 'TASK:2'),
  trigger: fc.constantFrom('SENT_TO_ME', 'TASK_STATE_CHANGED', undefined),
  after: fc.nat(60),
  length: fc.nat(60),
  limit: fc.integer({ min: 1, max: 5 }),
})

function write(
  log: Appended[],
  projectId: string,
  given: Omit<Appended, keyof LogEvent> & Partial<LogEvent>,
): Appended {
  const logId = log.filter((event) => event.projectId === projectId).length + 1
  const event = {
    type: 'message.sent',
    actor: '@donna',
    actorId: null,
    data: {},
    createdAt: 0,
    trigger: null,
    taskId: null,
  } as const
  const written = { ...event, ...given, projectId, logId }
  log.push(written)
  return written
}

const steps = fc.array(step, { maxLength: 30 })
/** All eight, or two to three of them. */
const weightMaxima = fc.constantFrom(1_000_000, 1_300)

test('it returns what the log had at some time, and never a page with a gap', () => {
  fc.assert(
    fc.property(steps, fc.array(question, { maxLength: 10 }), weightMaxima, (steps, questions, weightMax) => {
      const log: Appended[] = []
      const recent = new RecentEvents(8, weightMax)
      for (const one of steps) {
        if (one.do === 'append') {
          const written = one.events.map((event) => write(log, one.project, event))
          recent.add(written, written)
        } else {
          write(log, one.project, { audience: agents })
          if (one.notified) recent.forget([one.project])
        }
      }
      for (const { project: projectId, key, trigger, after, length, limit } of questions) {
        const page = recent.page(projectId, key, { after, upTo: after + length, limit }, trigger)
        if (!page) continue
        const head = recent.head(projectId)!
        const inLog = log.filter(
          (event) =>
            event.projectId === projectId &&
            (event.audience.includes(key) || event.taskId === key) &&
            (trigger === undefined || event.trigger === trigger) &&
            event.logId > after &&
            event.logId <= Math.min(after + length, head),
        )
        expect(page).toEqual(inLog.slice(0, limit))
      }
    }),
  )
})

const sent = (logId: number, projectId = 'north'): Appended =>
  write(
    [...Array(logId - 1)].map(() => ({ projectId }) as Appended),
    projectId,
    { audience: ['agent_a'] },
  )
const everything = { upTo: Number.MAX_SAFE_INTEGER, limit: 10 }

test('new events are cached, and it is known that none follows', () => {
  const recent = new RecentEvents()
  const events = [sent(5), sent(6)]
  recent.add(events, events)
  expect(recent.head('north')).toBe(6)
  expect(recent.page('north', 'agent_a', { after: 4, ...everything })).toEqual(events)
  expect(recent.page('north', 'agent_a', { after: 6, ...everything })).toEqual([])
  expect(recent.page('north', 'agent_b', { after: 4, ...everything })).toEqual([])
})

test('events before or after the cache are not known', () => {
  const recent = new RecentEvents()
  recent.add([sent(5)], [sent(5)])
  expect(recent.page('north', 'agent_a', { after: 3, ...everything })).toBeUndefined()
  expect(recent.page('north', 'agent_a', { after: 6, ...everything })).toBeUndefined()
  expect(recent.page('south', 'agent_a', { after: 4, ...everything })).toBeUndefined()
})

test('an event of another gateway ends the cached range, with and without a notification', () => {
  const recent = new RecentEvents()
  recent.add([sent(1)], [sent(1)])
  recent.forget(['north', 'TASK:1'])
  expect(recent.head('north')).toBeUndefined()
  recent.add([sent(3)], [sent(3)])
  recent.add([sent(5)], [sent(5)])
  expect(recent.page('north', 'agent_a', { after: 3, ...everything })).toBeUndefined()
  expect(recent.page('north', 'agent_a', { after: 4, ...everything })).toHaveLength(1)
})

test('it caches a bounded number of events, of all projects together', () => {
  const recent = new RecentEvents(100)
  for (let logId = 1; logId <= 1_000; logId++) {
    for (const projectId of projects) recent.add([sent(logId, projectId)], [sent(logId, projectId)])
  }
  for (const projectId of projects) {
    expect(recent.page(projectId, 'agent_a', { after: 950, upTo: 1_000, limit: 100 })).toHaveLength(50)
    expect(recent.page(projectId, 'agent_a', { after: 949, upTo: 1_000, limit: 100 })).toBeUndefined()
  }
})

test('a silent project is dropped when others have filled the cache', () => {
  const recent = new RecentEvents(4)
  recent.add([sent(1)], [sent(1)])
  for (let logId = 1; logId <= 4; logId++) recent.add([sent(logId, 'south')], [sent(logId, 'south')])
  expect(recent.head('north')).toBeUndefined()
  recent.add([sent(2)], [sent(2)])
  expect(recent.page('north', 'agent_a', { after: 1, ...everything })).toHaveLength(1)
})

import fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import type { LogEvent, NewEvent } from '../../src/log/event.ts'
import { logBounds, readAudienceEvents, readProjectEvents } from '../../src/log/event-store.ts'
import { ensureProject } from '../../src/registry/projects/project-store.ts'
import type { Database } from '../../src/storage/database.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { insertEvents } from '../support/insert-events.ts'
import { openStore } from '../support/store.ts'

let directory: ReturnType<typeof dataDirectory>
let db: Database

beforeEach(async () => {
  directory = dataDirectory()
  db = await openStore(directory.path, systemClock)
  await ensureProject(db, 'north')
  await ensureProject(db, 'south')
})
afterEach(async () => {
  await db.close()
  directory[Symbol.dispose]()
})

const event = (audience: readonly string[] = []): NewEvent => ({
  type: 'agent.updated',
  actor: '@donna',
  audience,
  data: {},
})
const append = (project: string, events: NewEvent[], fails = false): Promise<LogEvent[]> =>
  db.transaction(async (tx) => {
    const appended = await insertEvents(tx, project, events)
    if (fails) throw new Error('taken back')
    return appended
  })
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1)

test('logIds are gap-free and in commit order for each project, also when writers fail', async () => {
  const writers = fc.array(
    fc.record({
      project: fc.constantFrom('north', 'south'),
      count: fc.integer({ min: 1, max: 4 }),
      fails: fc.boolean(),
      pause: fc.boolean(),
    }),
    { minLength: 1, maxLength: 40 },
  )
  await fc.assert(
    fc.asyncProperty(writers, async (plan) => {
      const before = { north: (await logBounds(db, 'north')).head, south: (await logBounds(db, 'south')).head }
      const committed: LogEvent[] = []
      const running: Promise<unknown>[] = []
      for (const { project, count, fails, pause } of plan) {
        if (pause) await new Promise(setImmediate)
        const events = Array.from({ length: count }, () => event())
        const answered = async (): Promise<void> => {
          const appended = await append(project, events, fails).catch((error) => (fails ? [] : Promise.reject(error)))
          committed.push(...appended)
          // Answers of two connections may come in either order. With each, everything up to its events can be read.
          const stored = await readProjectEvents(db, project, before[project], 1_000)
          expect(stored.map(({ logId }) => logId)).toEqual(upTo(stored.length).map((n) => n + before[project]))
          for (const { logId } of appended) expect(logId).toBeLessThanOrEqual(before[project] + stored.length)
        }
        running.push(answered())
      }
      await Promise.all(running)
      for (const project of ['north', 'south'] as const) {
        const own = committed.filter((row) => row.projectId === project).map((row) => row.logId)
        expect(own.sort((a, b) => a - b)).toEqual(upTo(own.length).map((n) => n + before[project]))
        expect((await logBounds(db, project)).head).toBe(before[project] + own.length)
      }
    }),
    { numRuns: 40 },
  )
})

test('an agent that two projects concern reads each log by its own numbers', async () => {
  await append('north', [event(['agent_donna']), event()])
  await append('south', [event(), event(['agent_donna'])])
  await append('north', [event(['agent_donna'])])
  const north = await readAudienceEvents(db, 'north', 'agent_donna', 0, 10)
  const south = await readAudienceEvents(db, 'south', 'agent_donna', 0, 10)
  expect(north.map(({ projectId, logId }) => [projectId, logId])).toEqual([
    ['north', 1],
    ['north', 3],
  ])
  expect(south.map(({ projectId, logId }) => [projectId, logId])).toEqual([['south', 2]])
})

test('an event for a project that is not there is refused', async () => {
  await expect(append('west', [event()])).rejects.toMatchObject({ code: 'project-not-found' })
})

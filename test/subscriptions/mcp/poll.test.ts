import { getEventListeners } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import type { NewEvent } from '../../../src/log/event.ts'
import { LogNotifier } from '../../../src/log/log-notifier.ts'
import type { Caller } from '../../../src/registry/callers/caller.ts'
import { defaultProject, ensureProject } from '../../../src/registry/projects/project-store.ts'
import { choiceOf } from '../../../src/subscriptions/mcp/choice.ts'
import { pollEvents } from '../../../src/subscriptions/mcp/poll.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { insertEvents } from '../../support/insert-events.ts'
import { Iterations } from '../../support/iterations.ts'
import { spyOn } from '../../support/spy-reader.ts'
import { openStore } from '../../support/store.ts'
import { until } from '../../support/until.ts'
import { messageSent } from '../../wakes/builders.ts'

const donna: Caller = {
  kind: 'agent',
  id: 'agent_donna',
  identity: '@donna',
  projectId: defaultProject,
  keyId: 'key_donna',
  scopes: ['read'],
  limits: {},
}
/** Pages of one answer, and events of the first one and of each other. */
const [pagesMax, first, pageSize] = [25, 101, 200]
const all = first + (pagesMax - 1) * pageSize
const { data } = messageSent(0)
const mailTo = (audience: string): NewEvent => ({ type: 'message.sent', actor: '@lola', audience: [audience], data })

async function start() {
  const clock = new FakeClock()
  const directory = dataDirectory()
  const db = await openStore(directory.path, clock)
  await ensureProject(db, defaultProject)
  onTestFinished(async () => {
    await db.close()
    directory[Symbol.dispose]()
  })
  const notifier = new LogNotifier()
  const gone = new AbortController()
  const spied = spyOn(db)
  const counts = { spent: 0, waits: 0 }
  const write = async (count: number, audience = donna.id) => {
    const events = Array.from({ length: count }, () => mailTo(audience))
    const written = await db.transaction((tx) => insertEvents(tx, defaultProject, events))
    notifier.publish(written, events)
  }
  const poll = (input: { from?: string; cursor?: string; timeoutMs?: number; refuse?: boolean } = {}) => {
    const { from = '@nobody', cursor = cursorOf(0), timeoutMs = 0, refuse = false } = input
    const choice = choiceOf(donna, 'mail.received', { from: [from] })
    return pollEvents(
      { db: spied.reader as typeof db, clock, notifier },
      donna,
      { choice, cursor, maxAgeMs: undefined, maxEvents: 100, timeoutMs },
      {
        signal: gone.signal,
        spend: () => {
          counts.spent++
          if (refuse) throw new Error('rate-limited')
        },
        waits: () => counts.waits++,
      },
    )
  }
  const waiting = (calls: number) =>
    until(
      () => counts.waits,
      (count) => count >= calls,
    )
  return { clock, notifier, gone, seen: spied.seen, counts, write, poll, waiting }
}

const cursorOf = (logId: number): string => Buffer.from(`${logId}.${defaultProject}`).toString('base64url')

test('a poll that finds nothing in a long log answers after some pages, where to go on; others work at each page', async () => {
  const { write, poll, counts } = await start()
  for (let thousand = 0; thousand < 6; thousand++) await write(1_000)
  using iterations = new Iterations()
  const answer = await poll()
  expect(answer).toMatchObject({ events: [], hasMore: true, cursor: cursorOf(all) })
  expect(iterations.count).toBeGreaterThanOrEqual(pagesMax - 1)
  expect(counts.spent).toBe(1)
  expect(await poll({ cursor: answer.cursor })).toMatchObject({ events: [], hasMore: false, cursor: cursorOf(6_000) })
  expect(await poll({ from: '@lola' })).toMatchObject({ hasMore: true, cursor: cursorOf(100) })
})

test('few events cost nothing; a read of more is refused where its rate has no room', async () => {
  const { write, poll, counts } = await start()
  await write(first + pageSize - 1)
  await poll({ refuse: true })
  expect(counts.spent).toBe(0)
  await write(1)
  await expect(poll({ refuse: true })).rejects.toThrow('rate-limited')
})

test('a poll whose client is gone reads no further page', async () => {
  const { write, poll, gone, seen } = await start()
  await write(1_000)
  gone.abort()
  const before = seen.statements
  expect(await poll()).toMatchObject({ events: [], cursor: cursorOf(first) })
  expect(seen.statements - before).toBeLessThan(5)
})

test('a long poll has one timer and few listeners, whatever is written to others meanwhile, and reads nothing of it', async () => {
  const { clock, notifier, gone, seen, write, poll, waiting } = await start()
  const polls = Array.from({ length: 10 }, () => poll({ timeoutMs: 25_000 }))
  await waiting(10)
  const before = seen.statements
  for (let time = 0; time < 20; time++) await write(1, 'agent_other')
  expect(clock.timerCount).toBe(10)
  expect(getEventListeners(gone.signal, 'abort')).toHaveLength(10)
  expect(seen.statements).toBe(before)
  // What concerns the caller is looked at, and begins no further wait of its own.
  await write(1)
  await waiting(20)
  expect(clock.timerCount).toBe(10)
  expect(getEventListeners(gone.signal, 'abort')).toHaveLength(10)
  clock.advance(25_000)
  for (const answer of await Promise.all(polls))
    expect(answer).toMatchObject({ events: [], hasMore: false, cursor: cursorOf(21) })
  expect([clock.timerCount, notifier.listenerCount, getEventListeners(gone.signal, 'abort').length]).toEqual([0, 0, 0])
})

test('a long poll is answered with the first event, and ends with its client', async () => {
  const { clock, gone, write, poll, waiting } = await start()
  const found = poll({ from: '@lola', timeoutMs: 25_000 })
  await waiting(1)
  await write(1)
  expect((await found).events).toHaveLength(1)
  const left = poll({ timeoutMs: 25_000 })
  await waiting(2)
  gone.abort()
  expect(await left).toMatchObject({ events: [], hasMore: false })
  expect(clock.timerCount).toBe(0)
})

import { expect, test } from 'vitest'
import type { LogEvent } from '../../src/log/event.ts'
import { follow } from '../../src/log/follow.ts'
import { LiveTail } from '../../src/log/live-tail.ts'

const row = (logId: number): LogEvent => ({
  projectId: 'p',
  logId,
  type: 'agent.updated',
  trigger: null,
  taskId: null,
  actor: '@donna',
  data: {},
  createdAt: 0,
})

const publish = (tail: LiveTail, events: readonly LogEvent[]): void =>
  tail.publish(
    events,
    events.map(() => ({ audience: [] })),
  )

/** A log in memory: what is under test is the following, not the store. */
function startLog() {
  const tail = new LiveTail()
  const rows: LogEvent[] = []
  const stopping = new AbortController()
  return {
    tail,
    stopping,
    grow(count: number) {
      for (let i = 0; i < count; i++) rows.push(row(rows.length + 1))
      publish(tail, rows.slice(-count))
    },
    follow: (after: number) =>
      follow(tail, {
        key: 'p',
        after,
        signal: stopping.signal,
        read: async (since, limit) => rows.filter(({ logId }) => logId > since).slice(0, limit),
      }),
  }
}

test('everything after the watermark comes once and in order, also what is added while it is read', async () => {
  const log = startLog()
  log.grow(450)
  const seen: number[] = []
  for await (const { logId } of log.follow(50)) {
    seen.push(logId)
    if (logId % 100 === 0 && logId < 900) log.grow(50)
    if (logId === 700) log.stopping.abort()
  }
  expect(seen).toEqual(Array.from({ length: 650 }, (_, i) => i + 51))
})

test('an abort ends a follower that waits, and nothing listens any more', async () => {
  const log = startLog()
  const waiting = log.follow(0).next()
  expect(log.tail.listenerCount).toBe(1)
  log.stopping.abort()
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(log.tail.listenerCount).toBe(0)
})

test('a follower that breaks off leaves no listener', async () => {
  const log = startLog()
  log.grow(3)
  for await (const _ of log.follow(0)) break
  expect(log.tail.listenerCount).toBe(0)
})

test('the live tail tells whoever listens to the project and whoever listens to the task', () => {
  const tail = new LiveTail()
  const heard: string[] = []
  const stop = tail.listen('p', () => heard.push('project'))
  tail.listen('t', () => heard.push('task'))
  tail.listen('other', () => heard.push('other'))
  publish(tail, [row(1), { ...row(2), taskId: 't' }])
  stop()
  publish(tail, [{ ...row(3), taskId: 't' }])
  publish(tail, [])
  expect(heard).toEqual(['project', 'task', 'task'])
})

import { setMaxListeners } from 'node:events'
import { expect, test } from 'vitest'
import type { LogEvent } from '../../src/log/event.ts'
import { follow } from '../../src/log/follow.ts'
import { LogNotifier } from '../../src/log/log-notifier.ts'

const row = (logId: number): LogEvent => ({
  projectId: 'p',
  logId,
  type: 'agent.updated',
  trigger: null,
  taskId: null,
  actor: '@donna',
  actorId: null,
  data: {},
  createdAt: 0,
})

const publish = (tail: LogNotifier, events: readonly LogEvent[]): void =>
  tail.publish(
    events,
    events.map(() => ({ audience: [] })),
  )

/** A log in memory: what is under test is the following, not the store. */
function startLog() {
  const tail = new LogNotifier()
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

test('every event after the watermark arrives once and in order, also those that are added meanwhile', async () => {
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

test('an abort ends a waiting follower and removes its listener', async () => {
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

test('the notifier calls the listeners of the project and of the task', () => {
  const tail = new LogNotifier()
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

/** A tail with followers of one agent, a log in memory, and how often it was read. */
function startAgentLog(followers: number) {
  const tail = new LogNotifier()
  const rows: LogEvent[] = []
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  const seen = Array.from({ length: followers }, () => [] as number[])
  let reads = 0
  const read = async (after: number, limit: number) => {
    reads += 1
    return rows.filter(({ logId, actor }) => logId > after && actor === '@donna').slice(0, limit)
  }
  const options = { key: 'donna', within: 'p', after: 0, read, head: async () => rows.length, signal: stopping.signal }
  const following = seen.map(async (ids) => {
    for await (const { logId } of follow(tail, options)) ids.push(logId)
  })
  return {
    tail,
    seen,
    following,
    stopping,
    get reads() {
      return reads
    },
    append(actor: string) {
      const event = { ...row(rows.length + 1), actor }
      rows.push(event)
      return event
    },
    commit(actor: string) {
      tail.publish([this.append(actor)], [{ audience: [actor.slice(1)] }])
    },
  }
}

const settled = () => new Promise(setImmediate)

test('followers of an agent are not called for events of other agents', async () => {
  const log = startAgentLog(1_000)
  await settled()
  const before = log.reads
  for (let i = 0; i < 50; i++) log.commit('@mike')
  await settled()
  expect(log.reads).toBe(before)
  log.commit('@donna')
  await settled()
  expect(log.seen.every((ids) => ids.join() === '51')).toBe(true)
  log.stopping.abort()
  await Promise.all(log.following)
  expect(log.tail.listenerCount).toBe(0)
})

test('events of another gateway are read once for all followers of the same key, in order and once each', async () => {
  const log = startAgentLog(1_000)
  await settled()
  for (let i = 0; i < 20; i++) {
    for (const actor of ['@mike', '@donna', '@donna']) log.append(actor)
    const before = log.reads
    log.tail.invalidate(['p'])
    await settled()
    expect(log.reads - before).toBe(1)
  }
  const theirs = Array.from({ length: 20 }, (_, i) => [3 * i + 2, 3 * i + 3]).flat()
  expect(log.seen.every((ids) => ids.join() === theirs.join())).toBe(true)
  log.stopping.abort()
  await Promise.all(log.following)
})

test('a late follower reads alone, and misses no event that the others share', async () => {
  const log = startAgentLog(1)
  for (let i = 0; i < 30; i++) log.commit('@donna')
  await settled()
  const late: number[] = []
  const slow = (async () => {
    const read = async (after: number, limit: number) => {
      await settled()
      return Array.from({ length: 60 }, (_, i) => row(i + 1))
        .filter(({ logId }) => logId > after)
        .slice(0, Math.min(limit, 7))
    }
    for await (const { logId } of follow(log.tail, {
      key: 'donna',
      within: 'p',
      after: 3,
      read,
      pageSize: 7,
      signal: log.stopping.signal,
    })) {
      late.push(logId)
      if (logId === 60) return
    }
  })()
  for (let i = 0; i < 30; i++) {
    log.commit('@donna')
    await settled()
  }
  await slow
  expect(late).toEqual(Array.from({ length: 57 }, (_, i) => i + 4))
  log.stopping.abort()
  await Promise.all(log.following)
})

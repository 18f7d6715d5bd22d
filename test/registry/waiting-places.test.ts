import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, test } from 'vitest'
import { takeShare } from '../../src/fronts/door.ts'
import type { Leave } from '../../src/lib/keyed-semaphore.ts'
import { MiB } from '../../src/limits.ts'
import type { Caller } from '../../src/registry/callers/caller.ts'
import { newBulk } from '../../src/registry/shares/large-spacing.ts'
import { Shares } from '../../src/registry/shares/shares.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { until } from '../support/until.ts'

const agent = (id: string): Caller => ({ kind: 'agent', id, identity: `@${id}`, projectId: 'p', keyId: id, scopes: [] })
const [mallory, bob] = [agent('mallory'), agent('bob')]
const neverGone = new AbortController().signal
const request = () => newBulk({ what: undefined, bytes: 0, gone: () => neverGone })
const settled = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))

/** A caller with many requests at a time: the next one waits while requests of callers with few are processed. */
function busy(shares: Shares, clock: FakeClock) {
  const leaves = Array.from({ length: 4 }, () => shares.enter(bob, request()) as Leave)
  let entered = 0
  return {
    enter: () => void Promise.resolve(shares.enter(bob, request())).then(() => (entered += 1)),
    /** How many have begun after the time that a caller with many requests waits for the others. */
    async entered(): Promise<number> {
      for (let step = 0; step < 4; step += 1) {
        clock.advance(50)
        await settled()
      }
      return entered
    },
    leave: () => leaves.forEach((leave) => void leave()),
  }
}

test('nobody waits for a request that waits for its content; it takes a place again before it reads', async () => {
  const clock = new FakeClock()
  const shares = new Shares(clock)
  const [unread, waiting] = [request(), request()]
  const leaveUnread = (await shares.enter(mallory, unread)) as Leave
  await shares.large.beginReading(mallory, unread, 60 * MiB)
  const leaveWaiting = (await shares.enter(mallory, waiting)) as Leave
  let reads = false
  const reading = shares.large.beginReading(mallory, waiting, 60 * MiB).then(() => (reads = true))
  leaveUnread()

  const others = busy(shares, clock)
  others.enter()
  expect([await others.entered(), reads]).toEqual([1, false])
  shares.large.close(mallory, unread)
  await reading
  others.enter()
  expect(await others.entered()).toBe(1)
  leaveWaiting()
  expect(await others.entered()).toBe(2)
})

test('a request that ends while it waits leaves no place taken', async () => {
  const clock = new FakeClock()
  const shares = new Shares(clock)
  const client = new AbortController()
  const [unread, waiting] = [request(), newBulk({ what: undefined, bytes: 0, gone: () => client.signal })]
  const leaveUnread = (await shares.enter(mallory, unread)) as Leave
  await shares.large.beginReading(mallory, unread, 60 * MiB)
  const leaveWaiting = (await shares.enter(mallory, waiting)) as Leave
  const refused = expect(shares.large.beginReading(mallory, waiting, 60 * MiB)).rejects.toThrow(/contentAtOnce/)
  leaveUnread()
  leaveWaiting()
  client.abort()
  await refused
  const others = busy(shares, clock)
  others.enter()
  expect(await others.entered()).toBe(1)
})

test('nobody waits for an answer that its client does not read', async () => {
  const clock = new FakeClock()
  const shares = new Shares(clock)
  const app = express()
  app.use((_req, res, next) => {
    res.locals.caller = mallory
    next()
  })
  let isWritten = false
  app.use(takeShare(shares), (_req, res) => {
    res.end('x'.repeat(32 * MiB))
    isWritten = true
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    httpRequest(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { agent: false })
      .on('error', () => {})
      .end()
    await until(
      () => isWritten,
      (written) => written,
    )
    const others = busy(shares, clock)
    others.enter()
    expect(await others.entered()).toBe(1)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})

import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, test } from 'vitest'
import { during, readingFor, takeShare } from '../../src/fronts/door.ts'
import { MiB } from '../../src/limits.ts'
import type { Caller } from '../../src/registry/callers/caller.ts'
import { newBulk } from '../../src/registry/shares/large-spacing.ts'
import { Shares } from '../../src/registry/shares/shares.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { until } from '../support/until.ts'

const mallory: Caller = { kind: 'agent', id: 'mallory', identity: '@mallory', projectId: 'p', keyId: 'k', scopes: [] }

test('a client that goes away does not get room for more content while its request still has it in memory', async () => {
  const shares = new Shares(new FakeClock())
  const reading: (() => void)[] = []
  let isClosed = false
  const app = express()
  app.use((_req, res, next) => {
    res.locals.caller = mallory
    next()
  })
  app.use(takeShare(shares), async (_req, res) => {
    res.once('close', () => (isClosed = true))
    await during(shares, res, async () => {
      await readingFor(shares, res)(40 * MiB)
      await new Promise<void>((resolve) => reading.push(resolve))
      res.end()
    })
  })
  const server = createServer(app).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  try {
    const first = httpRequest(url, { agent: false })
      .on('error', () => {})
      .end()
    await until(
      () => reading.length,
      (count) => count === 1,
    )
    first.destroy()
    await until(
      () => isClosed,
      (gone) => gone,
    )
    const next = newBulk({ what: undefined, bytes: 0, gone: () => new AbortController().signal })
    let mayRead = false
    const waiting = shares.large.beginReading(mallory, next, 40 * MiB).then(() => (mayRead = true))
    await new Promise(setImmediate)
    expect(mayRead).toBe(false)
    reading[0]!()
    expect(await waiting).toBe(true)
  } finally {
    for (const end of reading) end()
    server.closeAllConnections()
    server.close()
  }
})

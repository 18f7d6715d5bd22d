import express from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'
import { FailedTries } from '../../src/fronts/failed-tries.ts'
import { pendingSignals } from '../../src/fronts/pending-signals.ts'
import { problemHandler } from '../../src/fronts/problem.ts'
import { systemClock } from '../../src/lib/clock.ts'
import { silentLogger } from '../../src/logger.ts'
import { strategies } from '../../src/mailbox/delivery/strategies.ts'
import { operator } from '../../src/registry/callers/caller.ts'
import { createClientAddress } from '../../src/security/client-address.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { openStore } from '../support/store.ts'

test('an answer that cannot be written is that request’s 500, and the next request is answered', async () => {
  using directory = dataDirectory()
  await using db = await openStore(directory.path, new FakeClock())
  const app = express()
  app.use((_req, res, next) => {
    res.locals.caller = { ...operator, kind: 'agent', id: 'agent_x' }
    next()
  })
  app.use(pendingSignals({ db, strategies, findSession: async () => undefined }, silentLogger))
  // As deep as what an older build has stored: JSON.stringify runs out of stack.
  app.get('/deep', (_req, res) => {
    let deep: unknown[] = []
    for (let level = 0; level < 100_000; level++) deep = [deep]
    res.json({ deep })
  })
  app.get('/fine', (_req, res) => {
    res.json({ fine: true })
  })
  app.use(
    problemHandler(silentLogger, new FailedTries({ clock: systemClock, log: silentLogger }, createClientAddress([]))),
  )

  const failed = await request(app).get('/deep')
  expect([failed.status, failed.body.code]).toEqual([500, 'internal'])
  expect((await request(app).get('/fine')).body).toEqual({ fine: true })
})

import express from 'express'
import request from 'supertest'
import { expect, test } from 'vitest'
import { unsentOver, withMail } from '../../src/fronts/answer-mail.ts'
import { FailedTries } from '../../src/fronts/failed-tries.ts'
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
  const mail = { db, strategies, findSession: async () => undefined }
  const caller = { ...operator, kind: 'agent' as const, id: 'agent_x' }
  // As deep as what an older build has stored: JSON.stringify runs out of stack.
  app.get('/deep', async (req, res) => {
    let deep: unknown[] = []
    for (let level = 0; level < 100_000; level++) deep = [deep]
    const call = {
      caller,
      method: 'GET',
      path: req.path,
      wanted: 'all' as const,
      whenUnsent: unsentOver(res),
    }
    const { view } = await withMail({ mail, log: silentLogger }, call, 200, { deep })
    res.json(view)
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

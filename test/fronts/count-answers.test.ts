import { EventEmitter, once } from 'node:events'
import { request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Response } from 'express'
import { expect, test } from 'vitest'
import { UnreadAnswers } from '../../src/admission/unread-answers.ts'
import { countAnswers } from '../../src/fronts/http/count-answers.ts'
import { endAnswers } from '../../src/fronts/http/express-messages.ts'

const large = 'x'.repeat(100_000)

test('an answer to a client that has gone away does not count as unread', async () => {
  const unread = new UnreadAnswers()
  const app = express()
  endAnswers(app, (end) => countAnswers(unread, () => expect.unreachable(), end))
  app.use((_req, res, next) => {
    res.locals.caller = { kind: 'agent', id: 'agent', keyId: 'key' }
    next()
  })
  const asked = new EventEmitter()
  app.get('/late', (_req, res) => void asked.emit('late', res))
  await using server = listening(app.listen(0))

  const req = request(`${server.url}/late`).on('error', () => {})
  req.end()
  const [res] = (await once(asked, 'late')) as [Response]
  req.destroy()
  await once(res, 'close')
  res.end(large)
  expect(unread.bytesOf({ kind: 'agent', id: 'agent', keyId: 'key' })).toBe(0)
})

function listening(server: Server): AsyncDisposable & { url: string } {
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

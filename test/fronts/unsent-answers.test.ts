import { EventEmitter, once } from 'node:events'
import { request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Response } from 'express'
import { expect, test } from 'vitest'
import { EventStream } from '../../src/fronts/sse.ts'
import { Unsent } from '../../src/fronts/unsent.ts'
import { countAnswers } from '../../src/fronts/unsent-answers.ts'

const large = 'x'.repeat(100_000)

test('an answer to a client that has gone away does not count as unread', async () => {
  const unsent = new Unsent()
  const app = express()
  countAnswers(app, unsent, () => expect.unreachable())
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
  expect(unsent.bytesOf('key')).toBe(0)
})

test('an event of a stream whose client has gone away does not count as unread', async () => {
  const unsent = new Unsent()
  const opened = new EventEmitter()
  const app = express()
  app.get('/events', (_req, res) => {
    res.flushHeaders()
    opened.emit('opened', res)
  })
  await using server = listening(app.listen(0))

  const req = request(`${server.url}/events`).on('error', () => {})
  req.end()
  const [res] = (await once(opened, 'opened')) as [Response]
  const reader = { keyId: 'key', revoked: new AbortController().signal, farewell: () => ({}) }
  const stream = new EventStream(res, reader, unsent)
  req.destroy()
  await once(res, 'close')
  expect(stream.write(`data: ${large}\n\n`)).toBe(false)
  expect(unsent.bytesOf('key')).toBe(0)
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

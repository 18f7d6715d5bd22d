import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import type { Response } from 'express'
import { expect, test, vi } from 'vitest'
import { UnreadAnswers } from '../../src/admission/unread-answers.ts'
import { EventStream } from '../../src/fronts/http/sse.ts'

test('a stream whose client has gone before it begins leaves no timer and writes nothing', async () => {
  await using server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  const [, res] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  const closed = once(res, 'close')
  client.destroy()
  await closed
  vi.useFakeTimers({ toFake: ['setInterval'] })
  try {
    const reader = { caller: { address: 'here' }, revoked: new AbortController().signal, farewell: () => ({}) }
    const stream = new EventStream(res as Response, reader, new UnreadAnswers())
    expect(vi.getTimerCount()).toBe(0)
    expect(stream.write('data: 1\n\n')).toBe(false)
  } finally {
    vi.useRealTimers()
  }
})

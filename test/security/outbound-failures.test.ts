import https from 'node:https'
import net from 'node:net'
import { expect, test, vi } from 'vitest'
import { toOutboundError } from '../../src/security/outbound-error.ts'
import { servedMs } from '../support/served-time.ts'
import {
  answering,
  asking,
  deferred,
  errorOf,
  fetcher,
  found,
  freePort,
  listen,
  request,
  serve,
  textOf,
} from './receivers.ts'

test('headers that do not arrive in time', async () => {
  const url = await serve(() => {})
  expect(await errorOf(fetcher().post({ ...request(url), timeoutMs: 50 }))).toMatchObject({
    kind: 'timeout',
    message: 'no complete answer in 50 ms',
  })
})

test('a body that drips is cut soon: its status is the answer', async () => {
  const hungUp = deferred()
  const url = await serve((_, res) => {
    const dripping = setInterval(() => res.write('.'), 10)
    res.on('close', () => {
      clearInterval(dripping)
      hungUp.resolve()
    })
  })
  const startedAt = servedMs()
  expect(await fetcher().post({ ...request(url), timeoutMs: 30_000 })).toMatchObject({
    status: 200,
    fault: 'the body of the answer did not end, and was cut',
  })
  expect(servedMs() - startedAt).toBeLessThan(10_000)
  await hungUp.promise
})

test('headers that drip do not extend the time', async () => {
  const server = net.createServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')
    const dripping = setInterval(() => socket.write('.'), 10)
    socket.on('close', () => clearInterval(dripping)).on('error', () => {})
  })
  expect(await errorOf(fetcher().post({ ...request(await listen(server)), timeoutMs: 150 }))).toMatchObject({
    kind: 'timeout',
  })
})

test('the deadline begins after the name look-up, which has its own limit', async () => {
  const url = await serve((_, res) => res.end('late'))
  const out = fetcher(
    asking(async () => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      return found(['127.0.0.1'])
    }),
  )
  const to = `http://hook.test:${new URL(url).port}/`
  expect(await out.post({ ...request(to), timeoutMs: 250 })).toMatchObject({ bodySnippet: 'late' })
})

test('a connection that is not made in its own time', async () => {
  const silent = await listen(net.createServer(() => {}))
  const out = fetcher({ connectTimeoutMs: 50 })
  expect(await errorOf(out.post(request(silent.replace('http:', 'https:'))))).toMatchObject({
    kind: 'connect',
    message: 'could not connect in time',
  })
})

test('the wait for a free connection counts, and a request that times out there is never sent', async () => {
  const gate = deferred()
  const bodies: string[] = []
  const url = await serve(async (req, res) => {
    bodies.push(await textOf(req))
    await gate.promise
    res.end()
  })
  const out = fetcher({ connectionsPerOrigin: 1 })
  const first = out.post({ ...request(url), body: 'first' })
  expect(await errorOf(out.post({ ...request(url), body: 'second', timeoutMs: 50 }))).toMatchObject({
    kind: 'timeout',
  })
  gate.resolve()
  await first
  await out.post({ ...request(url), body: 'third' })
  expect(bodies).toEqual(['first', 'third'])
})

test('a reset before the headers', async () => {
  const url = await serve((req) => req.socket.resetAndDestroy())
  expect(await errorOf(fetcher().post(request(url)))).toMatchObject({ kind: 'reset' })
})

test.each([200, 404, 503])('a reset in the middle of the body of a %i: its status is the answer', async (status) => {
  const url = await serve((req, res) => {
    res.writeHead(status).write('half', () => req.socket.resetAndDestroy())
  })
  expect(await fetcher().post(request(url))).toMatchObject({
    status,
    bodySnippet: 'half',
    fault: expect.stringContaining('broke'),
  })
})

test.each([
  ['a body that is shorter than it says', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok', 200],
  ['a 204 with a body', 'HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok', 204],
  ['a chunk without its length', 'HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\nno length\r\n', 202],
])('%s', async (_, answer, status) => {
  const server = net.createServer((socket) => {
    socket.on('data', () => socket.end(answer)).on('error', () => {})
  })
  expect(await fetcher().post(request(await listen(server)))).toMatchObject({ status })
})

test('an end before the headers', async () => {
  const url = await serve((req) => req.socket.end())
  expect(await errorOf(fetcher().post(request(url)))).toMatchObject({ kind: 'reset' })
})

test('a refused connection', async () => {
  const port = await freePort()
  expect(await errorOf(fetcher().post(request(`http://127.0.0.1:${port}/`)))).toMatchObject({
    kind: 'connect',
    message: 'could not connect (ECONNREFUSED)',
  })
})

test('a refused connection at each of several addresses', async () => {
  const port = await freePort()
  const out = fetcher(answering(['127.0.0.1', '127.0.0.2']))
  const error = await errorOf(out.post(request(`http://hook.test:${port}/`)))
  expect(error).toMatchObject({ kind: 'connect' })
  expect(error.message).not.toContain('127.0.0')
})

test('something that is not HTTP', async () => {
  const server = net.createServer((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
  expect(await errorOf(fetcher().post(request(await listen(server))))).toMatchObject({
    kind: 'no-http',
    message: 'the answer is not HTTP',
  })
})

test('a TLS server without a certificate', async () => {
  const url = await listen(https.createServer())
  expect(await errorOf(fetcher().post(request(url.replace('http:', 'https:'))))).toMatchObject({ kind: 'tls' })
})

test('plain HTTP where TLS is expected', async () => {
  const url = await serve((_, res) => res.end())
  expect(await errorOf(fetcher().post(request(url.replace('http:', 'https:'))))).toMatchObject({ kind: 'tls' })
})

test('the caller stops it: before, while connecting, while waiting, in the body', async () => {
  const early = AbortSignal.abort()
  expect(await errorOf(fetcher().post({ ...request('http://127.0.0.1:9/'), signal: early }))).toMatchObject({
    kind: 'aborted',
  })

  const connecting = new AbortController()
  const out = fetcher(
    asking(async () => {
      connecting.abort()
      return new Promise(() => {})
    }),
  )
  expect(await errorOf(out.post({ ...request('http://hook.test/'), signal: connecting.signal }))).toMatchObject({
    kind: 'aborted',
  })

  const waiting = new AbortController()
  const silent = await serve(() => waiting.abort())
  expect(await errorOf(fetcher().post({ ...request(silent), signal: waiting.signal }))).toMatchObject({
    kind: 'aborted',
  })

  const reading = new AbortController()
  const half = await serve((_, res) => {
    res.write('half', () => reading.abort())
  })
  expect(await fetcher().post({ ...request(half), signal: reading.signal })).toMatchObject({ status: 200 })
})

test('a signal that outlives the request keeps no reference to it', async () => {
  const url = await serve((_, res) => res.end())
  const { signal } = new AbortController()
  const [added, removed] = [vi.spyOn(signal, 'addEventListener'), vi.spyOn(signal, 'removeEventListener')]
  await fetcher().post({ ...request(url), signal })
  expect(removed).toHaveBeenCalledTimes(added.mock.calls.length)
})

test.each([
  ['EMFILE', 'connect', 'network'],
  ['ETIMEDOUT', 'connect', 'connect'],
  ['EHOSTUNREACH', 'connect', 'connect'],
  ['ETIMEDOUT', 'read', 'reset'],
  ['EPIPE', 'write', 'reset'],
  ['CERT_HAS_EXPIRED', undefined, 'tls'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', undefined, 'tls'],
  ['UND_ERR_DESTROYED', undefined, 'aborted'],
  ['HPE_INVALID_CONSTANT', undefined, 'no-http'],
  ['UND_ERR_HEADERS_OVERFLOW', undefined, 'no-http'],
  [undefined, undefined, 'network'],
])('code %s of %s is of the kind %s', (code, syscall, kind) => {
  const error = toOutboundError(Object.assign(new Error('10.0.0.1 says no'), { code, syscall }))
  expect(error).toMatchObject({ kind })
  expect(error.message).not.toContain('10.0.0.1')
})

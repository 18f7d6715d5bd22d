import net, { type Socket } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { OriginPools } from '../../src/security/origin-pools.ts'
import { OutboundFetch } from '../../src/security/outbound-fetch.ts'
import {
  deferred,
  errorOf,
  fetcher,
  listen,
  loopback,
  onCleanup,
  payer,
  request,
  serve,
  serveCounting,
  textOf,
} from './receivers.ts'

describe('an answer', () => {
  test('carries status, Retry-After, the beginning of the body and the duration', async () => {
    const seen: { method?: string; url?: string; type?: string; body?: string }[] = []
    const url = await serve(async (req, res) => {
      seen.push({ method: req.method, url: req.url, type: req.headers['content-type'], body: await textOf(req) })
      res.writeHead(503, { 'retry-after': '30' }).end('später')
    })
    const headers = { 'Content-Type': 'application/json' }
    const answer = await fetcher().post({ ...request(`${url}hook?a=1#frag`), headers, body: Buffer.from('{"ä":1}') })
    expect(answer).toEqual({
      status: 503,
      retryAfter: '30',
      bodySnippet: 'später',
      isPublic: false,
      durationMs: expect.any(Number),
    })
    expect(seen).toEqual([{ method: 'POST', url: '/hook?a=1', type: 'application/json', body: '{"ä":1}' }])
  })

  test('has no Retry-After when the receiver sent none', async () => {
    const url = await serve((_, res) => res.writeHead(204).end())
    expect(await fetcher().post(request(url))).toEqual({
      status: 204,
      bodySnippet: '',
      isPublic: false,
      durationMs: expect.any(Number),
    })
  })

  test.each([301, 302, 303, 307, 308])('with status %i is returned, its target never visited', async (status) => {
    const visited = vi.fn()
    const inside = await serve((_, res) => {
      visited()
      res.end()
    })
    const url = await serve((_, res) => res.writeHead(status, { location: inside }).end())
    expect(await fetcher().post(request(url))).toMatchObject({ status })
    expect(visited).not.toHaveBeenCalled()
  })

  test('keeps 2 KiB of text, with no half character at the end', async () => {
    const url = await serve((_, res) => res.end(`x${'ü'.repeat(5000)}`))
    expect((await fetcher().post(request(url))).bodySnippet).toBe(`x${'ü'.repeat(1023)}`)
  })

  test('with bytes that are no text still becomes storable text', async () => {
    const url = await serve((_, res) => res.end(Buffer.from([0x61, 0xff, 0x00, 0xc3])))
    expect((await fetcher().post(request(url))).bodySnippet).toBe('a\uFFFD\uFFFD\uFFFD')
  })

  test('of 10 MB is cut off after 64 KiB', async () => {
    let sent = 0
    const hungUp = deferred()
    const url = await serve((_, res) => {
      res.on('close', hungUp.resolve)
      const chunk = Buffer.alloc(16 * 1024, 'x')
      const more = () => {
        while (sent < 10e6 && !res.destroyed) {
          sent += chunk.length
          if (!res.write(chunk)) return
        }
        if (!res.destroyed) res.end()
      }
      res.on('drain', more)
      more()
    })
    const answer = await fetcher().post(request(url))
    expect(answer).toMatchObject({ status: 200, bodySnippet: 'x'.repeat(2048) })
    await hungUp.promise
    // The socket buffers of the kernel cannot be checked.
    expect(sent).toBeLessThan(10e6)
  })

  test('of 64 KiB leaves the connection open for the next request', async () => {
    const { url, connections } = await serveCounting((_, res) => res.end(Buffer.alloc(64 * 1024)))
    const out = fetcher({ connectionsPerOrigin: 1 })
    for (let i = 0; i < 3; i++) await out.post(request(url))
    expect(connections()).toBe(1)
  })
})

describe('an unusual answer', () => {
  test.each([
    ['after 103', ['HTTP/1.1 103 Early Hints\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok']],
    ['with 20 KB of headers', [`HTTP/1.1 200 OK\r\nX-Big: ${'h'.repeat(20_000)}\r\nContent-Length: 2\r\n\r\nok`]],
  ])('%s: its status counts, and its connection is kept', async (_, parts) => {
    let connections = 0
    const server = net.createServer((socket) => {
      connections += 1
      socket.on('data', async () => {
        for (const part of parts) {
          await new Promise((done) => setImmediate(done))
          socket.write(part)
        }
      })
    })
    const url = await listen(server)
    const out = fetcher({ connectionsPerOrigin: 1 })
    for (let i = 0; i < 2; i++) expect(await out.post(request(url))).toMatchObject({ status: 200, bodySnippet: 'ok' })
    expect(connections).toBe(1)
  })
})

describe('connections', () => {
  test('are kept alive and shared by the requests to an origin', async () => {
    const { url, connections } = await serveCounting((_, res) => res.end('ok'))
    const out = fetcher({ connectionsPerOrigin: 2 })
    for (let i = 0; i < 10; i++) await out.post(request(`${url}${i}`))
    await Promise.all(Array.from({ length: 50 }, () => out.post(request(url))))
    expect(connections()).toBe(2)
  })

  test('of the least recently used idle origin are closed for new ones', async () => {
    const pools = poolsOf({ originsMax: 2, originsOfAgentMax: 10 })
    const [a, b] = [pools.take('http://a', payer, undefined), pools.take('http://b', payer, undefined)]
    expect(pools.take('http://a', payer, undefined)).toBe(a)
    pools.take('http://c', payer, undefined)
    expect(pools.size).toBe(2)
    expect(pools.take('http://a', payer, undefined)).toBe(a)
    expect(b.pool.closed).toBe(true)
  })

  test('of an agent with many origins are closed for its own new ones, not those of other agents', () => {
    const pools = poolsOf({ originsMax: 4, originsOfAgentMax: 2 })
    const victim = pools.take('http://victim', payer, undefined)
    const mallory = { projectId: 'default', agentId: 'agent_mallory' }
    for (let i = 0; i < 20; i++) pools.take(`http://m${i}`, mallory, undefined)
    expect(pools.size).toBe(3)
    expect(pools.take('http://victim', payer, undefined)).toBe(victim)
  })

  test('in use are not evicted', async () => {
    const gate = deferred()
    const busy = await serve(async (_, res) => {
      await gate.promise
      res.end('done')
    })
    const other = await serve((_, res) => res.end('other'))
    const out = fetcher({ originsMax: 1 })
    const slow = out.post(request(busy))
    expect(await out.post(request(other))).toMatchObject({ bodySnippet: 'other' })
    gate.resolve()
    expect(await slow).toMatchObject({ bodySnippet: 'done' })
  })

  test('closing lets a running request finish and refuses new ones', async () => {
    const arrived = deferred()
    const gate = deferred()
    const url = await serve(async (_, res) => {
      arrived.resolve()
      await gate.promise
      res.end('done')
    })
    const out = fetcher()
    const running = out.post(request(url))
    await arrived.promise
    const closed = out.close()
    expect(await errorOf(out.post(request(url)))).toMatchObject({ kind: 'aborted' })
    gate.resolve()
    expect(await running).toMatchObject({ bodySnippet: 'done' })
    await closed
  })

  test.each([
    ['reset', (socket: Socket) => socket.resetAndDestroy()],
    ['closed', (socket: Socket) => socket.destroy()],
  ])('used before and %s as a request comes: it is sent once more, over a new one', async (_, end) => {
    const answers = new Map<Socket, number>()
    const ended: Socket[] = []
    const { url, connections } = await serveCounting(({ socket }, res) => {
      const before = answers.get(socket) ?? 0
      answers.set(socket, before + 1)
      if (before === 0) return void res.end('ok')
      ended.push(socket)
      end(socket)
    })
    const out = fetcher()
    // Two kept connections: the second would end as the first does.
    await Promise.all([out.post(request(url)), out.post(request(url))])
    expect(await out.post(request(url))).toMatchObject({ status: 200, bodySnippet: 'ok' })
    expect([connections(), ended.length]).toEqual([3, 1])
  })

  test('that are new, or have begun an answer, are not tried again when they break', async () => {
    let requests = 0
    const url = await serve(({ socket }, res) => {
      requests += 1
      if (requests === 1) return void res.end('ok')
      if (requests === 2) socket.write('HTTP/1.1 20')
      setImmediate(() => socket.resetAndDestroy())
    })
    const out = fetcher({ connectionsPerOrigin: 1 })
    await out.post(request(url))
    expect(await errorOf(out.post(request(url)))).toMatchObject({ kind: 'reset' })
    expect(await errorOf(out.post(request(url)))).toMatchObject({ kind: 'reset' })
    expect(requests).toBe(3)
  })

  test('are closed at the end of the scope that owns them', async () => {
    const { url, open } = await serveCounting((_, res) => res.end('ok'))
    {
      await using out = new OutboundFetch({ allow: loopback })
      await out.post(request(url))
    }
    await vi.waitFor(() => expect(open()).toBe(0))
  })
})

function poolsOf(bounds: { originsMax: number; originsOfAgentMax: number }): OriginPools {
  const pools = new OriginPools({
    lookup: () => () => {},
    isPublic: () => true,
    connectTimeoutMs: 1000,
    connectionsPerOrigin: 1,
    ...bounds,
  })
  onCleanup(() => pools.close())
  return pools
}

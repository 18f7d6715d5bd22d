import net from 'node:net'
import { expect, test, vi } from 'vitest'
import type { AskName } from '../../src/security/name-servers.ts'
import {
  answering,
  asking,
  errorOf,
  fetcher,
  found,
  loopback,
  noHosts,
  onCleanup,
  request,
  serve,
  serveCounting,
} from './receivers.ts'

test('names are dialled at the addresses they resolve to', async () => {
  const url = await serve((req, res) => res.end(req.headers.host))
  const port = new URL(url).port
  const out = fetcher(answering(['127.0.0.1']))
  expect(await out.post(request(`http://hook.test:${port}/`))).toMatchObject({ bodySnippet: `hook.test:${port}` })
})

test.each([
  ['one private address', ['10.0.0.1']],
  ['a public and a private address', ['8.8.8.8', '10.0.0.1']],
  ['a private and a public address', ['10.0.0.1', '8.8.8.8']],
  ['a metadata address', ['169.254.169.254']],
  ['a wrapped loopback address', ['64:ff9b::7f00:1']],
  ['an address with a zone', ['fe80::1%eth0']],
  ['something unparsable', ['8.8.8.8', 'elsewhere']],
])('names that resolve to %s are refused as a whole', async (_, addresses) => {
  const dialled = vi.spyOn(net.Socket.prototype, 'connect')
  onCleanup(() => dialled.mockRestore())
  const error = await errorOf(fetcher({ allow: [], ...answering(addresses) }).post(request('http://hook.test/')))
  expect(error).toMatchObject({ kind: 'refused' })
  for (const address of addresses) expect(error.message).not.toContain(address)
  expect(String(error.cause)).toContain(addresses.join(', '))
})

test('names that resolve to a private address never reach it', async () => {
  const arrived = vi.fn()
  const { url, connections } = await serveCounting(arrived)
  const out = fetcher({ allow: [], ...answering(['127.0.0.1']) })
  expect(await errorOf(out.post(request(`http://hook.test:${new URL(url).port}/`)))).toMatchObject({ kind: 'refused' })
  expect(connections()).toBe(0)
  expect(arrived).not.toHaveBeenCalled()
})

test('localhost may be dialled at the one of its addresses that is allowed', async () => {
  const url = await serve((_, res) => res.end('here'))
  const to = `http://localhost:${new URL(url).port}/`
  const names = { hosts: noHosts }
  expect(await fetcher({ names }).post(request(to))).toMatchObject({ bodySnippet: 'here' })
  expect(await errorOf(fetcher({ names, allow: ['::1/128'] }).post(request(to)))).toMatchObject({ kind: 'connect' })
})

test('a name that changes to a private address is not dialled: the address of every new socket is checked', async () => {
  const { url, connections } = await serveCounting((_, res) => res.writeHead(200, { connection: 'close' }).end())
  const port = new URL(url).port
  // 127.0.0.1 plays the public host, 127.0.0.2 the private one.
  const answers = ['127.0.0.1', '127.0.0.2']
  const ask = vi.fn<AskName>(async () => found([answers.shift()!], 0))
  let now = 0
  const out = fetcher({ allow: ['127.0.0.1/32'], names: { ask, hosts: noHosts, now: () => now } })
  expect(await out.post(request(`http://hook.test:${port}/`))).toMatchObject({ status: 200 })
  now += 1_001
  expect(await errorOf(out.post(request(`http://hook.test:${port}/`)))).toMatchObject({ kind: 'refused' })
  expect(ask).toHaveBeenCalledTimes(2)
  expect(connections()).toBe(1)
})

test('many sockets that open together share one look-up', async () => {
  const { url, connections } = await serveCounting((_, res) => res.end())
  const ask = vi.fn<AskName>(async () => {
    await new Promise(setImmediate)
    return found(['127.0.0.1'])
  })
  const out = fetcher({ ...asking(ask), connectionsPerOrigin: 8 })
  const to = request(`http://hook.test:${new URL(url).port}/`)
  await Promise.all(Array.from({ length: 8 }, () => out.post(to)))
  expect(connections()).toBe(8)
  expect(ask).toHaveBeenCalledTimes(1)
})

test.each<[string, AskName]>([
  [
    'an error',
    () => Promise.reject(Object.assign(new Error('ENOTFOUND hook.test via 10.0.0.53'), { code: 'ENOTFOUND' })),
  ],
  ['nothing', async () => found([])],
])('names that resolve to %s', async (_, ask) => {
  expect(await errorOf(fetcher(asking(ask)).post(request('http://hook.test/')))).toMatchObject({
    kind: 'dns',
    message: 'the host name does not resolve',
  })
})

test('localhost needs no name server', async () => {
  const url = await serve((_, res) => res.end('here'))
  const ask = vi.fn<AskName>(() => Promise.reject(new Error('looked up')))
  const out = fetcher({ allow: [...loopback, '::1/128'], names: { ask } })
  expect(await out.post(request(`http://localhost:${new URL(url).port}/`))).toMatchObject({ bodySnippet: 'here' })
  expect(await out.post(request(`http://rouse.localhost:${new URL(url).port}/`))).toMatchObject({ bodySnippet: 'here' })
  expect(ask).not.toHaveBeenCalled()
})

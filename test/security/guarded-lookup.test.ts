import net from 'node:net'
import { expect, test, vi } from 'vitest'
import type { Lookup } from '../../src/security/guarded-lookup.ts'
import { answering, errorOf, fetcher, loopback, onCleanup, request, serve, serveCounting } from './receivers.ts'

test('names are dialled at the addresses they resolve to', async () => {
  const url = await serve((req, res) => res.end(req.headers.host))
  const port = new URL(url).port
  const out = fetcher({ lookup: answering(['127.0.0.1']) })
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
  const error = await errorOf(fetcher({ allow: [], lookup: answering(addresses) }).post(request('http://hook.test/')))
  expect(error).toMatchObject({ kind: 'refused' })
  for (const address of addresses) expect(error.message).not.toContain(address)
  expect(String(error.cause)).toContain(addresses.join(', '))
})

test('names that resolve to a private address never reach it', async () => {
  const arrived = vi.fn()
  const { url, connections } = await serveCounting(arrived)
  const out = fetcher({ allow: [], lookup: answering(['127.0.0.1']) })
  expect(await errorOf(out.post(request(`http://hook.test:${new URL(url).port}/`)))).toMatchObject({ kind: 'refused' })
  expect(connections()).toBe(0)
  expect(arrived).not.toHaveBeenCalled()
})

test('localhost may be dialled at the one of its addresses that is allowed', async () => {
  const url = await serve((_, res) => res.end('here'))
  const to = `http://localhost:${new URL(url).port}/`
  expect(await fetcher({ lookup: answering(['::1', '127.0.0.1']) }).post(request(to))).toMatchObject({
    bodySnippet: 'here',
  })
  expect(await errorOf(fetcher({ lookup: answering(['::1']) }).post(request(to)))).toMatchObject({ kind: 'refused' })
})

test('names are asked for once per socket, so a name that turns private is never dialled there', async () => {
  const { url, connections } = await serveCounting((_, res) => res.writeHead(200, { connection: 'close' }).end())
  const port = new URL(url).port
  // Only 127.0.0.1 plays the public host; 127.0.0.2 plays the private one behind it.
  const answers = ['127.0.0.1', '127.0.0.2']
  const lookup = vi.fn<Lookup>((_, __, callback) => callback(null, [{ address: answers.shift()!, family: 4 }]))
  const out = fetcher({ allow: ['127.0.0.1/32'], lookup })
  expect(await out.post(request(`http://hook.test:${port}/`))).toMatchObject({ status: 200 })
  expect(await errorOf(out.post(request(`http://hook.test:${port}/`)))).toMatchObject({ kind: 'refused' })
  expect(lookup).toHaveBeenCalledTimes(2)
  expect(connections()).toBe(1)
})

test('names are asked for once by many sockets that open together', async () => {
  const { url, connections } = await serveCounting((_, res) => res.end())
  const lookup = vi.fn<Lookup>(
    (_, __, callback) => void setImmediate(callback, null, [{ address: '127.0.0.1', family: 4 }]),
  )
  const out = fetcher({ lookup, connectionsPerOrigin: 8 })
  const to = request(`http://hook.test:${new URL(url).port}/`)
  await Promise.all(Array.from({ length: 8 }, () => out.post(to)))
  expect(connections()).toBe(8)
  expect(lookup).toHaveBeenCalledTimes(1)
})

test.each([
  [
    'an error',
    (callback: Parameters<Lookup>[2]) =>
      callback(Object.assign(new Error('ENOTFOUND hook.test via 10.0.0.53'), { code: 'ENOTFOUND' }), []),
  ],
  ['nothing', (callback: Parameters<Lookup>[2]) => callback(null, [])],
])('names that resolve to %s', async (_, answer) => {
  const out = fetcher({ lookup: (_name, _options, callback) => answer(callback) })
  expect(await errorOf(out.post(request('http://hook.test/')))).toMatchObject({
    kind: 'dns',
    message: 'the host name does not resolve',
  })
})

test('names go to dns.lookup when nobody says otherwise', async () => {
  const url = await serve((_, res) => res.end('here'))
  const out = fetcher({ allow: [...loopback, '::1/128'] })
  expect(await out.post(request(`http://localhost:${new URL(url).port}/`))).toMatchObject({ bodySnippet: 'here' })
  expect(await errorOf(out.post(request('http://rouse.invalid/')))).toMatchObject({ kind: 'dns' })
})

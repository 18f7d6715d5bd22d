import { readFileSync } from 'node:fs'
import { createServer as createNetServer } from 'node:net'
import { createServer, type TlsOptions } from 'node:tls'
import { expect, test } from 'vitest'
import { startConnectProxy } from '../support/connect-proxy.ts'
import { startGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { startReceiver } from '../support/receiver.ts'
import { answering, errorOf, fetcher, freePort, listen, request, serve, serveCounting } from './receivers.ts'

const publicNames = answering(['93.184.216.34'])

const pem = (name: string) => readFileSync(new URL(`../faults/self-signed/${name}.pem`, import.meta.url))

function withPassword(url: string): string {
  return url.replace('//', '//rouse:ge%2Fheim@')
}

test('a public receiver is reached through the proxy, at the address that was checked, over one connection', async () => {
  const hosts: (string | undefined)[] = []
  const receiver = await serveCounting((req, res) => {
    hosts.push(req.headers.host)
    res.end('taken')
  })
  await using proxy = await startConnectProxy(receiver.url)
  const out = fetcher({ ...publicNames, proxy: withPassword(proxy.url), connectionsPerOrigin: 1 })
  for (let n = 0; n < 2; n++) {
    const answer = await out.post(request('http://hooks.example/'))
    expect(answer).toMatchObject({ status: 200, bodySnippet: 'taken', isPublic: true })
  }
  const credentials = `Basic ${Buffer.from('rouse:ge/heim').toString('base64')}`
  expect(proxy.asked).toEqual([{ target: '93.184.216.34:80', credentials }])
  expect(hosts).toEqual(['hooks.example', 'hooks.example'])
  expect(receiver.connections()).toBe(1)
  expect(await out.post(request('http://93.184.216.35:8080/'))).toMatchObject({ status: 200 })
  expect(proxy.asked[1]).toMatchObject({ target: '93.184.216.35:8080' })
})

test('TLS is with the receiver and its name, and not with the proxy', async () => {
  const names: string[] = []
  const SNICallback: TlsOptions['SNICallback'] = (name, done) => {
    names.push(name)
    done(null)
  }
  const server = createServer({ cert: pem('certificate'), key: pem('key'), SNICallback })
  server.on('tlsClientError', () => {})
  await using proxy = await startConnectProxy(await listen(server))
  const out = fetcher({ ...publicNames, proxy: proxy.url })
  expect((await errorOf(out.post(request('https://hooks.example/')))).kind).toBe('tls')
  expect(proxy.asked).toEqual([{ target: '93.184.216.34:443', credentials: undefined }])
  expect(names).toEqual(['hooks.example'])
})

test('a private receiver that is allowed is reached directly, and one that is not is refused before the proxy is asked', async () => {
  const url = await serve((_, res) => res.end())
  await using proxy = await startConnectProxy(url)
  const out = fetcher({ ...answering(['10.0.0.7']), proxy: proxy.url })
  expect(await out.post(request(url))).toMatchObject({ status: 200, isPublic: false })
  expect((await errorOf(out.post(request('http://inside.example/')))).kind).toBe('refused')
  expect((await errorOf(out.post(request('http://169.254.169.254/')))).kind).toBe('refused')
  expect(proxy.asked).toEqual([])
})

test('what a proxy cannot reach counts against the receiver', async () => {
  await using proxy = await startConnectProxy('http://127.0.0.1:9/')
  proxy.answer = 502
  const out = fetcher({ ...answering(['93.184.216.34', '93.184.216.35']), proxy: proxy.url })
  const { kind, message } = await errorOf(out.post(request('http://hooks.example/')))
  expect([kind, message]).toEqual(['connect', 'could not connect: the proxy answered 502'])
  expect(proxy.asked.map(({ target }) => target)).toEqual(['93.184.216.34:80', '93.184.216.35:80'])
})

test('a proxy that waits for the receiver for too long counts against the receiver', async () => {
  const silent = createNetServer(() => {})
  const out = fetcher({ ...publicNames, proxy: await listen(silent), connectTimeoutMs: 100 })
  const { kind, message } = await errorOf(out.post(request('http://hooks.example/')))
  expect([kind, message]).toEqual(['connect', 'could not connect in time'])
})

test('a proxy that is down, or refuses the password, counts against nobody and is in the log once, without the password', async () => {
  const { log, lines } = logLines()
  const down = fetcher({ ...publicNames, log, proxy: `http://rouse:geheim@127.0.0.1:${await freePort()}` })
  for (let n = 0; n < 2; n++) expect((await errorOf(down.post(request('http://hooks.example/')))).kind).toBe('busy')
  const lost = { level: 'error', event: 'proxy.lost', remedy: 'Correct ROUSE_WEBHOOK_PROXY, or start the proxy.' }
  expect(lines).toEqual([{ ...lost, reason: 'ECONNREFUSED' }])

  lines.length = 0
  const server = createServer({ cert: pem('certificate'), key: pem('key') })
  const untrusted = fetcher({ ...publicNames, log, proxy: (await listen(server)).replace('http:', 'https:') })
  expect((await errorOf(untrusted.post(request('http://hooks.example/')))).kind).toBe('busy')
  expect(lines).toEqual([{ ...lost, reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' }])

  lines.length = 0
  await using proxy = await startConnectProxy(await serve((_, res) => res.end()))
  proxy.answer = 407
  const refused = fetcher({ ...publicNames, log, proxy: withPassword(proxy.url) })
  expect((await errorOf(refused.post(request('http://hooks.example/')))).kind).toBe('busy')
  proxy.answer = 200
  expect(await refused.post(request('http://hooks.example/'))).toMatchObject({ status: 200 })
  expect(lines).toEqual([
    { ...lost, reason: 'it asks for another user and password (407)' },
    { level: 'info', event: 'proxy.back' },
  ])
})

test('a gateway sends its wakes and push notifications through ROUSE_WEBHOOK_PROXY', async () => {
  await using receiver = await startReceiver()
  await using proxy = await startConnectProxy(receiver.url)
  const env = { ROUSE_WEBHOOK_PROXY: proxy.url }
  await using gateway = await startGateway({ env, overrides: publicNames })
  const donna = await gateway.addAgent('donna')
  await gateway.subscribe(donna, 'http://hooks.example/wake')
  const pushConfig = { url: 'http://push.example/push' }
  const { id } = await gateway.send('donna', 'hello', { configuration: { taskPushNotificationConfig: pushConfig } })
  await gateway.move(donna, id, 'working')
  const hosts = new Set((await receiver.waitFor(2)).map(({ headers }) => headers.host))
  expect(hosts).toEqual(new Set(['hooks.example', 'push.example']))
  expect(new Set(proxy.asked.map(({ target }) => target))).toEqual(new Set(['93.184.216.34:80']))
})

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { dirname, join } from 'node:path'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { SendMessageRequest } from '@a2a-js/sdk'
import { ClientFactory } from '@a2a-js/sdk/client'
import { GrpcTransportFactory } from '@a2a-js/sdk/client/grpc'
import { credentials } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { silentLogger } from '../../src/logger/logger.ts'
import { TlsFiles } from '../../src/security/tls-files.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { connectRaw } from '../support/raw-connection.ts'
import { servedMs } from '../support/served-time.ts'
import { until } from '../support/until.ts'

const folder = (name: string) => join(import.meta.dirname, '../faults', name)
const pem = (name: string, file = 'certificate') => readFileSync(join(folder(name), `${file}.pem`), 'utf8')
/** For `localhost`. */
const ours = 'vouched-for'
const another = 'self-signed'

/** Certificate and key as files of the test's own, with what the gateway's environment says of them. */
function tlsFiles() {
  const directory = dataDirectory()
  const [cert, key] = [join(directory.path, 'cert.pem'), join(directory.path, 'key.pem')]
  const use = (name: string) => {
    copyFileSync(join(folder(name), 'certificate.pem'), cert)
    copyFileSync(join(folder(name), 'key.pem'), key)
    chmodSync(key, 0o600)
  }
  use(ours)
  const env = { ROUSE_TLS_CERT: cert, ROUSE_TLS_KEY: key, ROUSE_HOST: 'localhost' }
  return { cert, key, env, use, [Symbol.dispose]: () => directory[Symbol.dispose]() }
}

async function handshake(address: string, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const { hostname, port } = new URL(address.includes('//') ? address : `tcp://${address}`)
  const socket = connect({ host: hostname, port: Number(port), servername: 'localhost', ca: pem(ours), ...options })
  await once(socket, 'secureConnect')
  return socket
}

/** An open connection, and the session that its client may offer on another. */
async function sessionOf(address: string, options: ConnectionOptions) {
  const first = await handshake(address, options)
  // TLS 1.3 sends it after the handshake.
  if (first.getProtocol() === 'TLSv1.2') return { first, session: first.getSession() }
  const session = new Promise<Buffer>((resolve) => first.once('session', resolve))
  first.resume()
  return { first, session: await session }
}

/** The number of times that a port which closes the connection has sent something on it before. */
async function saidBy(address: string, options: ConnectionOptions): Promise<number> {
  const socket = await handshake(address, options).catch(() => undefined)
  let said = 0
  socket?.on('error', () => {}).on('data', () => said++)
  if (socket && !socket.closed) await new Promise((resolve) => socket.once('close', resolve))
  return said
}

/** Moves the clock on, one look at the files after the other, until the log has an event. */
function nextLine(clock: FakeClock, lines: string[], event: string, naming = ''): Promise<unknown> {
  return until(
    () => {
      clock.advance(10_000)
      return lines
    },
    (all) => all.some((line) => line.startsWith(event) && line.includes(naming)),
  )
}

/** One request over a connection of its own. */
function ask(gateway: TestGateway, path: string, options: ConnectionOptions = {}) {
  return new Promise<{ status: number | undefined; headers: object; body: string }>((resolve, reject) => {
    const headers = { authorization: `Bearer ${gateway.adminKey}` }
    request(`${gateway.url}${path}`, { ca: pem(ours), headers, agent: false, ...options }, (res) => {
      let body = ''
      res.setEncoding('utf8').on('data', (part) => (body += part))
      res.on('end', () => resolve({ status: res.statusCode, headers: res.headers, body }))
    })
      .on('error', reject)
      .end()
  })
}

function logged() {
  const lines: string[] = []
  const note = (fields: object, event: string) => void lines.push(`${event} ${JSON.stringify(fields)}`)
  return { lines, log: { ...silentLogger, info: note, warn: note, error: note } }
}

const shown = (socket: TLSSocket) => socket.getPeerX509Certificate()?.fingerprint256
const fingerprint = (name: string) => new X509Certificate(pem(name)).fingerprint256

test('HTTP uses TLS: the URL and the cards have https, HSTS is set, plain text is not answered', async () => {
  using files = tlsFiles()
  await using gateway = await startGateway({ env: files.env })
  expect(gateway.url).toMatch(/^https:\/\/localhost:\d+$/)
  expect((await ask(gateway, '/readyz')).headers).toMatchObject({ 'strict-transport-security': 'max-age=31536000' })
  const { body } = await ask(gateway, '/v1/agents')
  expect(JSON.parse(body)).toMatchObject({ agents: [] })
  using plain = await connectRaw(gateway.url)
  plain.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await plain.closed
  expect(plain.text()).not.toContain('HTTP')
})

test('neither port accepts anything older than TLS 1.2', async () => {
  using files = tlsFiles()
  await using gateway = await startGateway({ env: files.env })
  for (const address of [gateway.url, `tcp://${gateway.grpcTarget}`]) {
    const old = { minVersion: 'TLSv1' as const, maxVersion: 'TLSv1.1' as const, ciphers: 'DEFAULT@SECLEVEL=0' }
    await expect(handshake(address, old)).rejects.toThrow()
    const socket = await handshake(address, { maxVersion: 'TLSv1.2', ALPNProtocols: ['h2', 'http/1.1'] })
    expect(socket.getProtocol()).toBe('TLSv1.2')
    socket.destroy()
  }
})

test('gRPC uses TLS: the SDK finds the agent by its card over https and calls it', async () => {
  using files = tlsFiles()
  await using gateway = await startGateway({ env: files.env })
  const registered = await new Promise<number | undefined>((resolve, reject) => {
    const headers = { authorization: `Bearer ${gateway.adminKey}`, 'content-type': 'application/json' }
    request(`${gateway.url}/v1/agents`, { method: 'POST', ca: pem(ours), headers, agent: false }, (res) => {
      res.resume().on('end', () => resolve(res.statusCode))
    })
      .on('error', reject)
      .end('{"handle":"donna"}')
  })
  expect(registered).toBe(201)
  const card = JSON.parse((await ask(gateway, '/agents/donna/.well-known/agent-card.json')).body)
  expect(card.supportedInterfaces.map(({ url }: { url: string }) => url)).toContain(`${gateway.url}/agents/donna`)
  const factory = new GrpcTransportFactory({ grpcChannelCredentials: credentials.createSsl(Buffer.from(pem(ours))) })
  const client = await new ClientFactory({ transports: [factory] }).createFromAgentCard(card)
  const sent = SendMessageRequest.fromJSON({
    message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'hello' }] },
    configuration: { returnImmediately: true },
  })
  const task = await client.sendMessage(sent, {
    serviceParameters: { authorization: `Bearer ${gateway.adminKey}` },
  })
  expect(task).toMatchObject({ id: expect.any(String) })
})

test('a new certificate is shown to new connections, and the open ones stay', async () => {
  using files = tlsFiles()
  const clock = new FakeClock()
  const { lines, log } = logged()
  await using gateway = await startGateway({ env: files.env, overrides: { clock, log } })
  const ports = [gateway.url, `tcp://${gateway.grpcTarget}`]
  const before = await Promise.all(ports.map((port) => handshake(port, { ALPNProtocols: ['h2', 'http/1.1'] })))
  expect(before.map(shown)).toEqual([fingerprint(ours), fingerprint(ours)])

  // The key of another certificate is no key of this one: the old pair stays.
  writeFileSync(files.cert, pem(another))
  await nextLine(clock, lines, 'tls.not_reloaded')
  expect(shown(await handshake(gateway.url, { rejectUnauthorized: false }))).toBe(fingerprint(ours))

  files.use(another)
  await nextLine(clock, lines, 'tls.reloaded')
  for (const port of ports) {
    const socket = await handshake(port, { rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'] })
    expect(shown(socket)).toBe(fingerprint(another))
    socket.destroy()
  }
  before[0]?.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [answer] = await once(before[0]!, 'data')
  expect(String(answer)).toContain('"status":"ok"')
  for (const socket of before) {
    expect(socket.destroyed).toBe(false)
    socket.destroy()
  }
})

test('a file that cannot be read later is logged, and the certificate from before is shown', async () => {
  using files = tlsFiles()
  const clock = new FakeClock()
  const { lines, log } = logged()
  await using gateway = await startGateway({ env: files.env, overrides: { clock, log } })
  writeFileSync(files.key, 'no key')
  await nextLine(clock, lines, 'tls.not_reloaded')
  expect((await ask(gateway, '/healthz')).status).toBe(200)
})

test('a pair that cannot be used, or a file that is not there, ends the start in words', async () => {
  using files = tlsFiles()
  writeFileSync(files.cert, pem(another))
  await expect(startGateway({ env: files.env })).rejects.toThrow(/ROUSE_TLS_CERT and ROUSE_TLS_KEY are no certificate/)
  const env = { ...files.env, ROUSE_TLS_CERT: '/nowhere/cert.pem' }
  await expect(startGateway({ env })).rejects.toThrow('ROUSE_TLS_CERT: /nowhere/cert.pem cannot be read (ENOENT)')
})

/** Files that the gateway must not use, and what it says of each. */
const unusable = [
  ['', 'has no certificate'],
  ['\n', 'has no certificate'],
  ['garbage', 'has no certificate'],
  [pem(another).slice(0, 300), 'has a certificate that cannot be read'],
  ['-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n', 'has a certificate that cannot be read'],
  [
    `${pem(another)}-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n`,
    'has a certificate that cannot be read',
  ],
  [`${pem(another)}-----BEGIN CERTI`, 'has a certificate that cannot be read'],
] as const

test('a file of client CAs that is empty or broken ends the start, and later leaves the CAs as they are', async () => {
  using files = tlsFiles()
  const ca = `${files.cert}.ca`
  const env = { ...files.env, ROUSE_TLS_CLIENT_CA: ca }
  for (const [text, why] of unusable) {
    writeFileSync(ca, text)
    await expect(startGateway({ env })).rejects.toThrow(`ROUSE_TLS_CLIENT_CA: ${ca} ${why}`)
  }
  writeFileSync(ca, pem(another))
  const clock = new FakeClock(Date.now())
  const { lines, log } = logged()
  await using gateway = await startGateway({ env, overrides: { clock, log } })
  const client = { cert: pem(another), key: pem(another, 'key') }
  for (const [text] of unusable) {
    lines.length = 0
    writeFileSync(ca, text)
    await nextLine(clock, lines, 'tls.not_reloaded')
    expect(lines.join()).toContain('ROUSE_TLS_CLIENT_CA')
    expect((await ask(gateway, '/v1/agents', client)).status).toBe(200)
  }
  expect(lines.some((line) => line.startsWith('tls.reloaded'))).toBe(false)
})

test('an empty or broken file of the certificate or the key ends the start, and later the pair stays', async () => {
  using files = tlsFiles()
  const clock = new FakeClock()
  const { lines, log } = logged()
  await using gateway = await startGateway({ env: files.env, overrides: { clock, log } })
  const key = ['', '\n', 'garbage', pem(ours, 'key').slice(0, 60), pem(ours)]
  for (const [variable, path, texts] of [
    ['ROUSE_TLS_CERT', files.cert, unusable.map(([text]) => text.replace(pem(another), pem(ours)))],
    ['ROUSE_TLS_KEY', files.key, key],
  ] as const) {
    for (const text of texts) {
      lines.length = 0
      writeFileSync(path, text)
      await expect(startGateway({ env: files.env })).rejects.toThrow(`${variable}: ${path} has `)
      // A look that began before may tell of the file that was there then.
      await nextLine(clock, lines, 'tls.not_reloaded', variable)
      expect(shown(await handshake(gateway.url))).toBe(fingerprint(ours))
    }
    files.use(ours)
  }
})

test('a key file that other users can read causes a warning', async () => {
  using files = tlsFiles()
  chmodSync(files.key, 0o644)
  const { lines, log } = logged()
  await using _ = await startGateway({ env: files.env, overrides: { log } })
  expect(lines.find((line) => line.startsWith('tls.key_open'))).toContain('chmod 640')
})

test('the end of the certificate is logged once a day, also when nobody replaces it and when it is over', async () => {
  using files = tlsFiles()
  const endsAt = Date.parse(new X509Certificate(pem(ours)).validTo)
  const hourMs = 60 * 60 * 1000
  const clock = new FakeClock(endsAt - 14 * 24 * hourMs - hourMs)
  const { lines, log } = logged()
  await using tls = await TlsFiles.open({ cert: files.cert, key: files.key, clientCa: undefined }, clock, log)
  tls.watch(() => {})
  const warnings = () => lines.filter((line) => line.startsWith('tls.ends_soon'))
  /** One more look at the files, after a time. */
  const look = async (ms: number) => {
    clock.advance(ms)
    await until(
      () => clock.timerCount,
      (count) => count > 0,
    )
  }
  await look(10_000)
  expect(warnings()).toEqual([])
  await look(hourMs)
  expect(warnings()).toEqual([expect.stringContaining(new Date(endsAt).toISOString())])
  for (let hour = 1; hour <= 48; hour++) await look(hourMs)
  expect(warnings()).toHaveLength(3)
  // A file that cannot be used hides nothing.
  writeFileSync(files.key, '')
  await look(24 * hourMs)
  expect(warnings()).toHaveLength(4)
  files.use(ours)
  await look(14 * 24 * hourMs)
  expect(clock.now()).toBeGreaterThan(endsAt)
  expect(warnings()).toHaveLength(5)
  await look(24 * hourMs)
  expect(warnings()).toHaveLength(6)
})

test('with a CA for clients, only those with its certificate are answered, health checks aside', async () => {
  using files = tlsFiles()
  const env = { ...files.env, ROUSE_TLS_CLIENT_CA: join(folder(another), 'certificate.pem') }
  await using gateway = await startGateway({ env })
  const client = { cert: pem(another), key: pem(another, 'key') }
  const stranger = { cert: pem(ours), key: pem(ours, 'key') }
  for (const options of [{}, stranger]) {
    const refused = await ask(gateway, '/v1/agents', options)
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('ROUSE_TLS_CLIENT_CA')])
    expect((await ask(gateway, '/readyz', options)).status).toBe(200)
    const socket = await handshake(`tcp://${gateway.grpcTarget}`, { ALPNProtocols: ['h2'], ...options }).catch(
      () => undefined,
    )
    // In TLS 1.3 the refusal comes after the client's side of the handshake.
    if (socket && !socket.destroyed)
      await new Promise((resolve) => socket.once('close', resolve).once('error', () => {}))
  }
  expect((await ask(gateway, '/v1/agents', client)).status).toBe(200)
  const records = await until(
    async () => JSON.parse((await ask(gateway, '/v1/audit?project=*&outcome=forbidden', client)).body).records,
    (found: { front: string; operation: string; count: number }[]) =>
      found.reduce((sum, { count }) => sum + count, 0) >= 4,
  )
  const nobody = { actor: '', callerId: null, keyId: null, target: '', address: expect.stringMatching(/^(::1|127)/) }
  for (const record of records) expect(record).toMatchObject(nobody)
  const counts: Record<string, number> = {}
  for (const { front, operation, count } of records) {
    counts[`${front} ${operation}`] = (counts[`${front} ${operation}`] ?? 0) + count
  }
  expect(counts).toEqual({ 'gateway http.request': 2, 'grpc grpc.connect': 2 })
  const socket = await handshake(`tcp://${gateway.grpcTarget}`, { ALPNProtocols: ['h2'], ...client })
  const [settings] = await once(socket, 'data')
  expect(settings).toBeInstanceOf(Buffer)
  socket.destroy()
})

test('a resumed TLS session without a certificate stays without one', async () => {
  using files = tlsFiles()
  const env = { ...files.env, ROUSE_TLS_CLIENT_CA: join(folder(another), 'certificate.pem') }
  await using gateway = await startGateway({ env })
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const sessions: Buffer[] = []
    const first = await handshake(gateway.url, { maxVersion })
    first.on('session', (session) => sessions.push(session))
    first.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
    await once(first.resume(), 'close')
    const kept = sessions.at(-1) ?? first.getSession()
    const refused = await ask(gateway, '/v1/agents', { maxVersion, ...(kept === undefined ? {} : { session: kept }) })
    expect([maxVersion, refused.status]).toEqual([maxVersion, 403])
  }
  // The gRPC port ends the first connection, but its client may have got a session by then.
  const port = `tcp://${gateway.grpcTarget}`
  const tickets: Buffer[] = []
  const options = { ALPNProtocols: ['h2'] }
  const refused = await handshake(port, options).catch(() => undefined)
  refused?.on('session', (session) => tickets.push(session)).on('error', () => {})
  if (refused && !refused.closed) await new Promise((resolve) => refused.once('close', resolve))
  for (const session of tickets) {
    expect(await saidBy(port, { ...options, session })).toBe(0)
  }
})

test('a client with a certificate shows it on every connection: no session is resumed, and none is renegotiated', async () => {
  using files = tlsFiles()
  const env = { ...files.env, ROUSE_TLS_CLIENT_CA: join(folder(another), 'certificate.pem') }
  await using gateway = await startGateway({ env })
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    for (const port of [gateway.url, `tcp://${gateway.grpcTarget}`]) {
      const client = {
        cert: pem(another),
        key: pem(another, 'key'),
        ALPNProtocols: [port === gateway.url ? 'http/1.1' : 'h2'],
        maxVersion,
      }
      const { session, first } = await sessionOf(port, client)
      const second = await handshake(port, { ...client, ...(session === undefined ? {} : { session }) })
      expect([port, maxVersion, second.isSessionReused()]).toEqual([port, maxVersion, false])
      if (maxVersion === 'TLSv1.2') {
        const said = once(first, 'error')
        first.renegotiate({}, () => {})
        expect(await said).toEqual([expect.objectContaining({ code: 'ERR_SSL_NO_RENEGOTIATION' })])
      }
      for (const socket of [first, second]) socket.destroy()
    }
  }
  const { session, first } = await sessionOf(gateway.url, { cert: pem(another), key: pem(another, 'key') })
  const answer = await ask(gateway, '/v1/agents', { cert: pem(another), key: pem(another, 'key'), session: session! })
  expect(answer.status).toBe(200)
  first.destroy()
})

test('a client whose certificate has expired is refused, also with the session from before, and its connections end', async () => {
  using files = tlsFiles()
  const env = { ...files.env, ROUSE_TLS_CLIENT_CA: join(folder(another), 'certificate.pem') }
  const { validFrom, validTo } = new X509Certificate(pem(another))
  const clock = new FakeClock(Date.parse(validTo) - 90_000)
  await using gateway = await startGateway({ env, overrides: { clock } })
  const grpcPort = `tcp://${gateway.grpcTarget}`
  const client = { cert: pem(another), key: pem(another, 'key') }
  const overGrpc = { ...client, ALPNProtocols: ['h2'] }
  expect((await ask(gateway, '/v1/agents', client)).status).toBe(200)
  const http = await sessionOf(gateway.url, client)
  const grpc = await sessionOf(grpcPort, overGrpc)
  const strange = await handshake(gateway.url)
  const ends = [http, grpc].map(({ first }) => once(first.on('error', () => {}).resume(), 'close'))

  clock.advance(89_999)
  http.first.write('GET /v1/agents HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [answer] = await once(http.first, 'data')
  expect(String(answer)).toContain('HTTP/1.1 401 ')
  expect(grpc.first.destroyed).toBe(false)
  clock.advance(1)
  await Promise.all(ends)

  for (const session of [undefined, http.session]) {
    const refused = await ask(gateway, '/v1/agents', { ...client, ...(session === undefined ? {} : { session }) })
    expect([refused.status, refused.body]).toEqual([403, expect.stringContaining('has not expired')])
  }
  for (const session of [undefined, grpc.session]) {
    expect(await saidBy(grpcPort, { ...overGrpc, ...(session === undefined ? {} : { session }) })).toBe(0)
  }
  // A connection without a certificate is left alone: it may ask for the health.
  strange.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n')
  const [health] = await once(strange, 'data')
  expect(String(health)).toContain('"status":"ok"')
  strange.destroy()

  await using early = await startGateway({ env, overrides: { clock: new FakeClock(Date.parse(validFrom) - 1) } })
  expect((await ask(early, '/v1/agents', client)).status).toBe(403)
  expect(await saidBy(`tcp://${early.grpcTarget}`, overGrpc)).toBe(0)
})

test('a handshake that does not end is cut off and delays no stop', async () => {
  using files = tlsFiles()
  const connectionBounds = { headers: 0.3 }
  const gateway = await startGateway({ env: files.env, overrides: { connectionBounds } })
  using silentHttp = await connectRaw(gateway.url)
  using silentGrpc = await connectRaw(`tcp://${gateway.grpcTarget}`)
  expect(await silentHttp.closed).toBeLessThan(5)
  expect(await silentGrpc.closed).toBeLessThan(5)
  using held = await connectRaw(gateway.url)
  const startedAt = servedMs()
  await gateway[Symbol.asyncDispose]()
  await held.closed
  expect(servedMs() - startedAt).toBeLessThan(3_000)
})

test('the end of each CA of client certificates is logged too', async () => {
  using files = tlsFiles()
  const clientCa = join(dirname(files.cert), 'client-ca.pem')
  writeFileSync(clientCa, pem(ours) + pem(another))
  const endsAt = Date.parse(new X509Certificate(pem(another)).validTo)
  const clock = new FakeClock(endsAt - 14 * 24 * 60 * 60 * 1000 + 1_000)
  const { lines, log } = logged()
  await using _ = await TlsFiles.open({ cert: files.cert, key: files.key, clientCa }, clock, log)
  expect(lines).toEqual([
    expect.stringMatching(new RegExp(`^tls.ends_soon.*client-ca.*${new Date(endsAt).toISOString()}`)),
  ])
})

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, copyFileSync, readFileSync } from 'node:fs'
import { request } from 'node:https'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectSecurely } from 'node:tls'
import { GetTaskRequest, SendMessageRequest } from '@a2a-js/sdk'
import { credentials } from '@grpc/grpc-js'
import { describe, expect, test } from 'vitest'
import type { ConnectionBounds } from '../../src/fronts/connection-bounds.ts'
import { sending } from '../a2a/wire.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { logLines } from '../support/log-lines.ts'
import { bearer, rawClient } from './raw-client.ts'

const folder = join(import.meta.dirname, '../faults/vouched-for')
const ca = readFileSync(join(folder, 'certificate.pem'))
/** Seconds between two connections of an address after one was closed. */
const grpcNextConnection = 0.6

/** One frame of HTTP/2 (RFC 9113 section 4.1). */
function frame(type: number, streamId: number, ...payload: number[]): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head.writeUInt32BE(streamId, 5)
  return Buffer.concat([head, Buffer.from(payload)])
}
const preface = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0)])
/** Frames that Node takes in any number. */
const frames = {
  WINDOW_UPDATE: frame(8, 0, 0, 0, 0, 1),
  PRIORITY: frame(2, 1, 0, 0, 0, 0, 16),
  ALTSVC: frame(0x0a, 0, 0, 0),
  'an unknown type': frame(0x77, 0),
}

interface Port extends AsyncDisposable {
  readonly gateway: TestGateway
  /** The `connection.refused` lines so far. */
  refused(): readonly object[]
  connect(): Promise<Socket>
  client(): ReturnType<typeof rawClient>
}

async function open(isSecure: boolean, connectionBounds: Partial<ConnectionBounds>): Promise<Port> {
  const directory = dataDirectory()
  const files = ['cert', 'key'].map((name) => join(directory.path, `${name}.pem`)) as [string, string]
  copyFileSync(join(folder, 'certificate.pem'), files[0])
  copyFileSync(join(folder, 'key.pem'), files[1])
  chmodSync(files[1], 0o600)
  const env: Record<string, string> = isSecure
    ? { ROUSE_TLS_CERT: files[0], ROUSE_TLS_KEY: files[1], ROUSE_HOST: 'localhost' }
    : {}
  const { log, of } = logLines('warn')
  const gateway = await startGateway({
    env,
    overrides: { connectionBounds: { ...connectionBounds, grpcNextConnection }, log },
  })
  if (!isSecure) await gateway.addAgent('donna')
  else await registerSecurely(gateway)
  const channel = isSecure ? credentials.createSsl(ca) : credentials.createInsecure()
  const { hostname, port } = new URL(`tcp://${gateway.grpcTarget}`)
  return {
    gateway,
    refused: () => of('connection.refused'),
    connect: async () => {
      const at = { host: hostname, port: Number(port) }
      const socket = isSecure
        ? connectSecurely({ ...at, servername: 'localhost', ca, ALPNProtocols: ['h2'] })
        : connect(at)
      socket.on('error', () => {}).resume()
      await once(socket, isSecure ? 'secureConnect' : 'connect')
      return socket
    },
    client: () => rawClient(gateway.grpcTarget, '1.0', channel),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
    },
  }
}

async function registerSecurely({ url, adminKey }: TestGateway): Promise<void> {
  const headers = { ...bearer(adminKey), 'content-type': 'application/json' }
  const asked = request(`${url}/v1/agents`, { method: 'POST', ca, headers, agent: false }).end('{"handle":"donna"}')
  const [answer] = await once(asked, 'response')
  answer.resume()
  expect(answer.statusCode).toBe(201)
}

/** A reset is an end too. */
const closeOf = (socket: Socket) => new Promise((resolve) => socket.once('close', resolve))

/** Sends the same frame until the connection is closed. */
async function flood(socket: Socket, one: Buffer): Promise<void> {
  const many = Buffer.concat(Array.from({ length: 5_000 }, () => one))
  const closed = closeOf(socket)
  socket.write(preface)
  while (!socket.destroyed) {
    await Promise.race([closed, new Promise<void>((resolve) => socket.write(many, () => resolve()))])
  }
  await closed
}

const send = (client: ReturnType<typeof rawClient>, key: string, text = 'hello', metadata = {}) => {
  const message = SendMessageRequest.fromJSON({ tenant: 'agents/donna', ...sending({ parts: [{ text }] }) })
  return client.unary('sendMessage', message, { ...bearer(key), ...metadata })
}

describe.each([
  ['in plain text', false],
  ['over TLS', true],
])('%s', (_, isSecure) => {
  // The attack: 200 MB/s of frames that are in no call, with or without a key. Others' requests took ten times as long.
  test.each(Object.entries(frames))(
    'a connection that sends very many frames of %s is closed, and others are not',
    async (_, one) => {
      await using port = await open(isSecure, {})
      using before = port.client()
      expect(await send(before, port.gateway.adminKey)).toHaveProperty('value')
      await flood(await port.connect(), one)
      expect(await send(before, port.gateway.adminKey)).toHaveProperty('value')
      expect(port.refused()).toMatchObject([{ limit: 'grpcBeside', address: expect.stringMatching(/127.0.0.1|::1/) }])
    },
  )

  test('further connections of the same address are read one after the other, and not in any number', async () => {
    await using port = await open(isSecure, {})
    await flood(await port.connect(), frames.PRIORITY)
    const from = performance.now()
    using next = port.client()
    expect(await send(next, port.gateway.adminKey)).toHaveProperty('value')
    expect(performance.now() - from).toBeGreaterThan(100)
    await flood(await port.connect(), frames.PRIORITY)
    const others = await Promise.all(Array.from({ length: 50 }, () => port.connect()))
    // Ten seconds have room for 16 of them.
    await Promise.race(others.map(closeOf))
    for (const socket of others) socket.destroy()
  })

  test('calls with much metadata, large messages and large answers are no such frames', async () => {
    await using port = await open(isSecure, { grpcBeside: 8_192, grpcBesideRate: 1_024 })
    using client = port.client()
    const { adminKey } = port.gateway
    const sent = await send(client, adminKey, 'x'.repeat(1_000_000))
    const { id } = (sent as { value: { payload: { value: { id: string } } } }).value.payload.value
    const get = GetTaskRequest.fromJSON({ tenant: 'agents/donna', id })
    for (let round = 0; round < 20; round++) {
      const metadata = { 'x-trace': randomBytes(2_500).toString('hex') }
      const calls = [
        send(client, adminKey, 'y'.repeat(100_000), metadata),
        ...[1, 2, 3].map(() => client.unary('getTask', get, { ...bearer(adminKey), ...metadata })),
      ]
      for (const answer of await Promise.all(calls)) expect(answer).toHaveProperty('value')
    }
    expect(port.refused()).toEqual([])
  })
})

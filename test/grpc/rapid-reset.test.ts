import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startProcessGateway } from '../support/process-gateway.ts'
import { resetCalls } from '../support/reset-calls.ts'
import { servedMs } from '../support/served-time.ts'
import { bearer, rawClient } from './raw-client.ts'

const goAway = 7
/** Well below the time that a connection has to show a key, which ends it too. */
const cutOffMaxMs = 5_000
let gateway: TestGateway
let id: string

beforeAll(async () => {
  gateway = await startGateway()
  await gateway.addAgent('donna')
  ;({ id } = await gateway.send('donna', 'hello'))
})

afterAll(() => gateway[Symbol.asyncDispose]())

/** Begins and resets 5,000 calls without a key. Resolves with the ms until that is cut off. */
async function attack(path?: string): Promise<number> {
  const socket = connectTo(gateway.grpcTarget)
  const begin = servedMs()
  await new Promise<void>((resolve) => {
    socket.once('close', resolve)
    socket.on('data', (bytes) => typesOf(bytes).includes(goAway) && resolve())
    socket.write(resetCalls(5_000, path))
  })
  socket.destroy()
  return servedMs() - begin
}

async function read() {
  using client = rawClient(gateway.grpcTarget)
  return await client.unary('getTask', { tenant: 'agents/donna', id }, bearer(gateway.adminKey))
}

test('a client without a key that begins calls and resets them is cut off, each time, and others are served meanwhile', async () => {
  for (let time = 0; time < 3; time++) {
    const cutOff = attack()
    expect(await read()).toMatchObject({ value: { id } })
    expect(await cutOff).toBeLessThan(cutOffMaxMs)
  }
  expect(await read()).toMatchObject({ value: { id } })
})

test('the same holds for calls of no method', async () => {
  const cutOff = attack('/no.such.Service/Method')
  expect(await read()).toMatchObject({ value: { id } })
  expect(await cutOff).toBeLessThan(cutOffMaxMs)
})

test('an address whose connections end after bytes without a key gets no further one for a while', async () => {
  await using other = await startGateway({ env: { ROUSE_CONNECTIONS_PER_ADDRESS: '1000' } })
  const cutAfter = async (): Promise<boolean> => {
    const socket = connectTo(other.grpcTarget).resume()
    let bytes = 0
    socket.on('data', (chunk) => (bytes += chunk.length))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.end(resetCalls(1_000, '/no.such.Service/Method'))
    await closed
    return bytes > 0
  }
  expect(await cutAfter()).toBe(true)
  await cutAfter()
  // It is closed before HTTP/2 begins.
  expect(await cutAfter()).toBe(false)
})

test('a gateway outlives clients that begin calls of no method, reset them and leave', async () => {
  await using other = await startProcessGateway({ ROUSE_LOG_LEVEL: 'error' })
  for (let time = 0; time < 20; time++) {
    const socket = connectTo(other.grpcTarget)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.resume().end(resetCalls(1, '/no.such.Service/Method'))
    await closed
  }
  expect((await other.call('GET', '/readyz')).status).toBe(200)
  const ended = await other.kill('SIGTERM')
  expect([ended.code, ended.stderr]).toEqual([0, ''])
})

/** Connects from an address of its own, as on a network. */
function connectTo(target: string | undefined): Socket {
  const [host, port] = String(target).split(':')
  return connect({ host: host!, port: Number(port), localAddress: '127.0.0.2' }).on('error', () => {})
}

/** The types of the HTTP/2 frames that begin in these bytes. */
function typesOf(bytes: Buffer): number[] {
  const types: number[] = []
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) types.push(bytes[at + 3]!)
  return types
}

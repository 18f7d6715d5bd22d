import { afterAll, beforeAll, expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { connectRaw, type RawConnection } from '../support/raw-connection.ts'

/** The table's bounds, made small: as many connections as a test can hold, and as short. */
const few = { connections: 300, linger: 0.3 }
const connectionBounds = { ...few, headers: 0.6, grpcFirstCall: 0.6 }
let gateway: TestGateway

beforeAll(async () => {
  gateway = await startGateway({ overrides: { connectionBounds } })
})

afterAll(() => gateway[Symbol.asyncDispose]())

function openMany(count: number, address: string): Promise<RawConnection[]> {
  return Promise.all(Array.from({ length: count }, () => connectRaw(address)))
}

/** The memory of this process, the gateway and its clients together, in MB. */
function heldMb(): number {
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 1e6
}

const isReady = async ({ call }: TestGateway) => (await call('GET', '/readyz')).status === 200

test('idle connections have a limit, end at their deadline, and are closed for active ones', async () => {
  for (const address of [gateway.url, `tcp://${gateway.grpcTarget}`]) {
    const before = heldMb()
    const all = await openMany(400, address)
    expect(Math.max(...(await Promise.all(all.map(({ closed }) => closed))))).toBeLessThan(10)
    expect(heldMb() - before).toBeLessThan(60)
    expect(await isReady(gateway)).toBe(true)
    for (const connection of all) connection[Symbol.dispose]()
  }
})

test('endless bodies from hundreds of clients without a key are not stored', async () => {
  // Time enough for the headers: 250 clients share the thread with the gateway.
  await using patient = await startGateway({ overrides: { connectionBounds: few } })
  const before = heldMb()
  const all = await openMany(250, patient.url)
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  for (const { socket } of all) {
    socket.write('POST /v1/tasks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n')
    socket.write('Transfer-Encoding: chunked\r\n\r\n')
    const send = () => {
      if (!socket.destroyed && socket.write(chunk)) setImmediate(send)
    }
    socket.on('drain', send)
    send()
  }
  let most = 0
  const watch = setInterval(() => {
    most = Math.max(most, heldMb())
  }, 20)
  await Promise.all(all.map(({ closed }) => closed))
  clearInterval(watch)
  const answers = all.map(({ text }) => text().split('\r\n')[0])
  expect(answers.filter((line) => line === 'HTTP/1.1 401 Unauthorized').length).toBeGreaterThan(200)
  // A buffer of 64 KiB for each of them, on both sides.
  expect(most - before).toBeLessThan(120)
  expect(await isReady(patient)).toBe(true)
  for (const connection of all) connection[Symbol.dispose]()
})

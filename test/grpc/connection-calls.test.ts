import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { connectionBounds } from '../../src/fronts/connection-bounds.ts'
import { ConnectionRefusals, peerOf } from '../../src/fronts/connections.ts'
import { ConnectionCalls } from '../../src/fronts/grpc/connection-calls.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { bearer, rawClient } from './raw-client.ts'

/** A connection as it is counted: an address, a port, the bytes that were read, and its end. */
class Connection extends EventEmitter {
  static port = 1_000
  readonly remotePort = Connection.port++
  bytesRead = 0
  destroyed = false

  constructor(readonly remoteAddress: string) {
    super()
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.emit('close')
  }
}

function start(connectionsPerAddress = 1_000) {
  const clock = new FakeClock()
  const bounds = connectionBounds({ grpcCalls: 100, connectionsPerAddress })
  const calls = new ConnectionCalls(bounds, new ConnectionRefusals(silentLogger), clock)
  const open = (address = '192.0.2.1'): { connection: Connection; accepted: boolean; begin: () => boolean } => {
    const connection = new Connection(address)
    const socket = connection as unknown as Socket
    return { connection, accepted: calls.accept(socket), begin: () => calls.begin(peerOf(socket)) }
  }
  const end = ({ connection }: { connection: Connection }, bytesRead: number): void => {
    connection.bytesRead = bytesRead
    connection.destroy()
  }
  return { clock, calls, open, end }
}

test('all that a connection has begun is charged: one of a thousand calls bars its address for as long as the whole bound takes', () => {
  const { clock, open, end } = start()
  end(open(), 127_000)
  expect(open().accepted).toBe(false)
  clock.advance(9_900)
  expect(open().accepted).toBe(false)
  expect(open('192.0.2.2').accepted).toBe(true)
  clock.advance(200)
  expect(open().accepted).toBe(true)
})

test('a flood over many connections is ended as a whole: the first one beyond the bound closes the others of its address', () => {
  const { clock, open } = start()
  const all = Array.from({ length: 20 }, () => open())
  const other = open('192.0.2.2')
  let begun = 0
  for (const { begin } of all) for (let call = 0; call < 50; call++) if (begin()) begun++
  expect(begun).toBe(100)
  expect(all.every(({ connection }) => connection.destroyed)).toBe(true)
  expect(other.connection.destroyed).toBe(false)
  // Half of the bound comes back in five seconds.
  clock.advance(4_900)
  expect(open().accepted).toBe(false)
  clock.advance(300)
  expect(open().accepted).toBe(true)
  other.connection.destroy()
})

test('a connection of a few calls without a key costs no more than most of the bound', () => {
  const { open, end } = start()
  end(open(), 15_000)
  expect(open().accepted).toBe(true)
})

test('behind a proxy the connections of other clients stay', () => {
  const { open } = start(0)
  const [flood, client] = [open(), open()]
  for (let call = 0; call < 200; call++) flood.begin()
  expect([flood.connection.destroyed, client.connection.destroyed]).toEqual([true, false])
  client.connection.destroy()
})

test('a client with a key that opens a few connections, and makes many calls on each, is served', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const { id } = await gateway.send('donna', 'hello')
  for (let connection = 0; connection < 5; connection++) {
    using client = rawClient(gateway.grpcTarget)
    const read = () => client.unary('getTask', { tenant: 'agents/donna', id }, bearer(gateway.adminKey))
    const answers = await Promise.all(Array.from({ length: 60 }, read))
    expect(answers.filter((answer) => !('value' in answer))).toEqual([])
  }
})

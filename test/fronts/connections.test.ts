import { once } from 'node:events'
import { createServer, type Server, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { connectionBounds } from '../../src/fronts/connection-bounds.ts'
import { ConnectionRefusals, Connections } from '../../src/fronts/connections.ts'
import { HttpServer } from '../../src/fronts/http/http-server.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { networkOf } from '../../src/security/ip-address.ts'
import { connectRaw, type RawConnection } from '../support/raw-connection.ts'
import { until } from '../support/until.ts'

function logged() {
  const lines: object[] = []
  const warn = (fields: object, event: string) => void lines.push({ event, ...fields })
  return { lines, log: { ...silentLogger, warn } }
}

async function listening(bounds: object) {
  const { lines, log } = logged()
  const connections = new Connections(connectionBounds(bounds), new ConnectionRefusals(log))
  const server = new HttpServer({ bounds: connectionBounds(bounds), connections })
  server.serve((_req, res) => res.end('served'))
  return { server, lines, url: await server.listen('127.0.0.1', 0) }
}

const request = 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'

test('an address has a limit of connections, and each closed connection frees a place', async () => {
  const { server, lines, url } = await listening({ connectionsPerAddress: 3 })
  await using _ = server
  const held = await Promise.all([1, 2, 3].map(() => connectRaw(url)))
  for (const { socket } of held) socket.write(request)
  for (const each of held) await each.answered('served')
  for (const more of [await connectRaw(url), await connectRaw(url)]) await more.closed
  expect(lines).toEqual([
    expect.objectContaining({
      event: 'connection.refused',
      limit: 'connectionsPerAddress',
      max: 3,
      address: '127.0.0.1',
      remedy: expect.stringContaining('ROUSE_CONNECTIONS_PER_ADDRESS'),
    }),
  ])
  held[0]?.socket.destroy()
  const answer = await until(
    async () => {
      using next = await connectRaw(url)
      next.socket.write(request)
      return await Promise.race([next.answered('served'), next.closed.then(() => '')])
    },
    (text) => text.includes('served'),
  )
  expect(answer).toContain('served')
  for (const { socket } of held) socket.destroy()
})

test('idle connections are closed for active ones, the oldest first', async () => {
  const { server, url } = await listening({ connections: 4 })
  await using _ = server
  const silent: RawConnection[] = []
  for (let count = 0; count < 12; count++) silent.push(await connectRaw(url))
  await Promise.all(silent.slice(0, 10).map(({ closed }) => closed))
  using asking = await connectRaw(url)
  asking.socket.write(request)
  await asking.answered('served')
  for (const { socket } of silent) socket.destroy()
})

test('all addresses together have a limit of connections', async () => {
  const { server, lines, url } = await listening({ connections: 2 })
  await using _ = server
  using first = await connectRaw(url)
  first.socket.write(request)
  await first.answered('served')
  using second = await connectRaw(url)
  second.socket.write(request)
  for (const each of [first, second]) await each.answered('served')
  await (await connectRaw(url)).closed
  expect(lines).toMatchObject([{ event: 'connection.refused', limit: 'connections', max: 2 }])
})

test('the ports share what is counted', async () => {
  const connections = new Connections(
    connectionBounds({ connectionsPerAddress: 1 }),
    new ConnectionRefusals(silentLogger),
  )
  const ready: Socket[] = []
  const servers: Server[] = [createServer(), createServer()]
  for (const server of servers) {
    connections.watch(server, false, (socket) => ready.push(socket))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  const [one, two] = servers.map((server) => `127.0.0.1:${(server.address() as { port: number }).port}`)
  using held = await connectRaw(one!)
  await until(
    () => ready.length,
    (count) => count === 1,
  )
  await (await connectRaw(two!)).closed
  expect(ready).toHaveLength(1)
  held.socket.destroy()
  for (const server of servers) server.close()
})

test.each([
  ['10.1.2.3', '10.1.2.3'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff::1', '2001:db8:1:2::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['nonsense', 'nonsense'],
])('%s counts as %s', (address, network) => expect(networkOf(address)).toBe(network))

import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { startProcessGateway } from '../support/process-gateway.ts'

/** As many as one burst brings, and as the system lets wait. */
const systemMax = Number(readFileSync('/proc/sys/net/core/somaxconn', 'latin1'))
const burst = Math.min(2_000, systemMax, 4_096)

test('connections that come while a gateway is busy wait for it, on both ports: the system drops none', async () => {
  await using gateway = await startProcessGateway()
  gateway.signal('SIGSTOP')
  const sockets: Socket[] = []
  try {
    for (const address of [gateway.url, `tcp://${gateway.grpcTarget}`]) {
      const { hostname, port } = new URL(address)
      const opened = Array.from({ length: burst }, () => connect(Number(port), hostname).on('error', () => {}))
      sockets.push(...opened)
      // The client of a connection that was dropped tries again after a second.
      const begun = performance.now()
      await Promise.all(opened.map((socket) => once(socket, 'connect')))
      expect(performance.now() - begun).toBeLessThan(900)
    }
  } finally {
    gateway.signal('SIGCONT')
    for (const socket of sockets) socket.destroy()
  }
  expect((await gateway.call('GET', '/readyz')).status).toBe(200)
})

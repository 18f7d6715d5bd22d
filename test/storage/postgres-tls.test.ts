import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import pg from 'pg'
import { expect, test } from 'vitest'
import { connectionOptions } from '../../src/storage/postgres/connection-options.ts'

const certificate = (name: string) => join(import.meta.dirname, '../faults', name, 'certificate.pem')
const key = (name: string) => join(import.meta.dirname, '../faults', name, 'key.pem')

/** The first steps of a PostgreSQL with TLS: it accepts TLS and reads the start-up message. It accepts no user. */
async function startServer() {
  const startups: string[] = []
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('S')
      const options = { cert: readFileSync(certificate('vouched-for')), key: readFileSync(key('vouched-for')) }
      const secure = new TLSSocket(socket, { isServer: true, ...options })
      secure.on('error', () => {})
      secure.once('data', (startup) => {
        startups.push(startup.toString('latin1'))
        const message = 'SFATAL\0C28000\0Mnobody here\0\0'
        const head = Buffer.from([0x45, 0, 0, 0, message.length + 4])
        secure.end(Buffer.concat([head, Buffer.from(message)]))
      })
    })
  })
  server.listen(0, 'localhost')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    startups,
    connect: async (parameters: string, host = 'localhost') => {
      const client = new pg.Client(connectionOptions(`postgres://rouse:p@${host}:${port}/rouse?${parameters}`))
      client.on('error', () => {})
      return client.connect().then(
        () => 'connected',
        (error: Error) => error.message,
      )
    },
    [Symbol.asyncDispose]: async () => void server.close(),
  }
}

test('sslmode=verify-full with a CA reaches a server of that name, and sends credentials only after encryption', async () => {
  await using server = await startServer()
  expect(await server.connect(`sslmode=verify-full&sslrootcert=${certificate('vouched-for')}`)).toBe('nobody here')
  expect(server.startups).toEqual([expect.stringContaining('user\0rouse\0')])
})

test.each([
  ['a CA that did not sign it', `sslmode=verify-full&sslrootcert=${certificate('self-signed')}`, 'localhost'],
  ['no CA of its own', 'sslmode=verify-full', 'localhost'],
  ['another name', `sslmode=verify-full&sslrootcert=${certificate('vouched-for')}`, '127.0.0.1'],
])('with %s nothing is sent to the server', async (_what, parameters, host) => {
  await using server = await startServer()
  expect(await server.connect(parameters, host)).toMatch(/self-signed|unable to verify|does not match|altnames/i)
  expect(server.startups).toEqual([])
})

import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { HttpServer } from '../../src/fronts/http-server.ts'

test('a request that comes before there is anything to serve is answered once there is', async () => {
  await using server = new HttpServer()
  const url = await server.listen('127.0.0.1', 0)
  const answer = fetch(url).then((response) => response.text())
  server.serve((_req, res) => res.end('served'))
  expect(await answer).toBe('served')
})

test('a connection that never sent a request does not hold a stop up', async () => {
  const server = new HttpServer()
  server.serve((_req, res) => res.end())
  const { port } = new URL(await server.listen('127.0.0.1', 0))
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  const startedAt = performance.now()
  await server.close()
  await closed
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})

test('a request in flight is finished before the server is closed', async () => {
  const server = new HttpServer()
  let finish = (): void => {}
  const arrived = new Promise<void>((resolve) => {
    server.serve((_req, res) => {
      finish = () => res.end('finished')
      resolve()
    })
  })
  const answer = fetch(await server.listen('127.0.0.1', 0)).then((response) => response.text())
  await arrived
  const closing = server.close()
  finish()
  expect(await answer).toBe('finished')
  await closing
})

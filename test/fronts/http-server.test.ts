import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { connectionBounds } from '../../src/fronts/connection-bounds.ts'
import { HttpServer } from '../../src/fronts/http/http-server.ts'
import { servedMs } from '../support/served-time.ts'
import { until } from '../support/until.ts'

test('a request that arrives before the gateway is ready is answered when it is', async () => {
  await using server = new HttpServer()
  const url = await server.listen('127.0.0.1', 0)
  const answer = fetch(url).then((response) => response.text())
  server.serve((_req, res) => res.end('served'))
  expect(await answer).toBe('served')
})

test('a connection that never sent a request does not delay a stop', async () => {
  const server = new HttpServer()
  server.serve((_req, res) => res.end())
  const { port } = new URL(await server.listen('127.0.0.1', 0))
  const socket = connect(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  const startedAt = servedMs()
  await server.close()
  await closed
  expect(servedMs() - startedAt).toBeLessThan(2_000)
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

describe('a reader', () => {
  const stallMs = 1_000
  const large = 'x'.repeat(20_000_000)

  /** A server with a short deadline, and a connection with a request. */
  async function ask(answer: (res: ServerResponse) => void) {
    const server = new HttpServer({ bounds: connectionBounds({ readerStall: stallMs / 1_000 }) })
    let noteClosed = (_ms: number): void => {}
    const closed = new Promise<number>((resolve) => {
      noteClosed = resolve
    })
    server.serve((_req, res) => {
      const startedAt = performance.now()
      res.once('close', () => noteClosed(performance.now() - startedAt))
      answer(res)
    })
    const { port } = new URL(await server.listen('127.0.0.1', 0))
    const socket = connect(Number(port), '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    return {
      port: Number(port),
      socket,
      closed,
      async [Symbol.asyncDispose]() {
        socket.destroy()
        await server.close()
      },
    }
  }

  test('that reads nothing of its answer is cut off', async () => {
    await using open = await ask((res) => res.end(large))
    expect(await open.closed).toBeGreaterThan(stallMs / 2)
  })

  test('that reads its answer slowly gets all of it', async () => {
    await using open = await ask((res) => res.end(large))
    let bytes = 0
    open.socket.on('data', (chunk) => {
      bytes += chunk.length
      open.socket.pause()
      setTimeout(() => open.socket.resume(), 8)
    })
    open.socket.resume()
    expect(await open.closed).toBeGreaterThan(stallMs)
    await until(
      () => bytes,
      (count) => count > large.length,
    )
    expect(open.socket.destroyed).toBe(false)
  })

  test('that waits for an answer stays open', async () => {
    let answer = () => {}
    await using open = await ask((res) => {
      answer = () => void res.end('late')
    })
    const received = once(open.socket, 'data')
    open.socket.resume()
    setTimeout(() => answer(), 2 * stallMs)
    expect(String((await received)[0])).toContain('late')
  })

  test('that is idle, before or after a request, is closed', async () => {
    await using open = await ask((res) => res.end('done'))
    open.socket.resume()
    const silent = connect(open.port, '127.0.0.1')
    await Promise.all([once(silent, 'close'), once(open.socket, 'close')])
  })
})

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedWake {
  readonly headers: IncomingHttpHeaders
  readonly raw: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly body: any
  readonly at: number
}

type Respond = (wake: ReceivedWake, res: ServerResponse, nth: number) => void

/** A real HTTP receiver. It keeps what it got and answers as the test says. */
export interface Receiver extends AsyncDisposable {
  readonly url: string
  readonly port: number
  readonly wakes: readonly ReceivedWake[]
  /** Resolves once `count` requests have come; rejects after the time-out with what did come. */
  waitFor(count: number, timeoutMs?: number): Promise<readonly ReceivedWake[]>
  /** Changes the answer: a status, or a function that answers itself. */
  respond(how: number | Respond): void
}

export async function startReceiver(how: number | Respond = 200, port = 0): Promise<Receiver> {
  const wakes: ReceivedWake[] = []
  const waiting = new Set<() => void>()
  let respond = toFunction(how)
  const server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const raw = Buffer.concat(chunks).toString('utf8')
      const wake = { headers: req.headers, raw, body: raw ? JSON.parse(raw) : undefined, at: Date.now() }
      wakes.push(wake)
      respond(wake, res, wakes.length)
      for (const check of [...waiting]) check()
    })
  })
  await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
  const address = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${address.port}/`,
    port: address.port,
    wakes,
    waitFor(count, timeoutMs = 30_000) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          waiting.delete(check)
          reject(
            new Error(`Waited for ${count} wakes, got ${wakes.length}: ${wakes.map((wake) => wake.raw).join('\n')}`),
          )
        }, timeoutMs)
        const check = () => {
          if (wakes.length < count) return
          clearTimeout(timer)
          waiting.delete(check)
          resolve(wakes)
        }
        waiting.add(check)
        check()
      })
    },
    respond(next) {
      respond = toFunction(next)
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

function toFunction(how: number | Respond): Respond {
  if (typeof how === 'function') return how
  return (_wake, res) => {
    res.statusCode = how
    res.end()
  }
}

import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseWake, type Wake } from '../../client/wakes/wake.ts'
import { verifyWake } from '../../words/signature.ts'

/** A digest of the largest size is a small part of this. */
const bodyBytesMax = 1024 * 1024

interface WakeReceiverOptions {
  port: number
  path: string
  /** A promise, because a subscription's key is known only after the gateway knows this receiver's address. */
  keys: Promise<readonly string[]>
  /** Called for every genuine wake, repetitions too. Must return at once. */
  onWake: (wake: Wake) => void
  onRefused: (reason: string) => void
}

/** A webhook receiver on this machine's loopback address. */
export class WakeReceiver implements AsyncDisposable {
  readonly #options: WakeReceiverOptions
  readonly #server: Server

  constructor(options: WakeReceiverOptions) {
    this.#options = options
    this.#server = createServer(async (request, response) => {
      const status = await this.#answer(request).catch(() => 500)
      response.writeHead(status, status === 405 ? { allow: 'POST' } : {}).end()
    })
  }

  /** Listens and returns the address to subscribe with. */
  async start(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(this.#options.port, '127.0.0.1', resolve)
    })
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${this.#options.path}`
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeIdleConnections()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #answer(request: IncomingMessage): Promise<number> {
    const { path, keys, onWake, onRefused } = this.#options
    if ((request.url ?? '/').split('?')[0] !== path) return 404
    if (request.method !== 'POST') return 405
    const body = await readBody(request)
    if (!body) return 413
    const reason = refusal(body, request.headers, await keys)
    if (reason) {
      onRefused(reason)
      return 401
    }
    const wake = parseWake(body, [request.headers.traceparent].flat()[0])
    if (!wake) return 400
    onWake(wake)
    return 200
  }
}

/** Why a request is not a genuine wake. Both signatures are checked: one covers the body, the other its id and age too. */
function refusal(body: Buffer, headers: IncomingMessage['headers'], keys: readonly string[]): string | undefined {
  const nowSeconds = Math.floor(Date.now() / 1000)
  for (const scheme of ['standard-webhooks', 'x-neo-wake'] as const) {
    const verified = verifyWake({ body, headers, keys, nowSeconds, scheme })
    if (!verified.ok) return `${scheme}: ${verified.reason}`
  }
  return undefined
}

/** The exact bytes; undefined when there are too many. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyBytesMax) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

import { createECDH, randomBytes } from 'node:crypto'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import type { JsonObject } from '../../src/lib/json.ts'

interface Decrypt {
  decrypt(body: Buffer, keys: { version: 'aes128gcm'; privateKey: unknown; authSecret: string }): Buffer
}
const ece = createRequire(import.meta.url)('http_ece') as Decrypt

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly path: string
  readonly notification: JsonObject
}

/** A browser at a push service: the service takes what is sent, and the browser decrypts it. */
export interface PushService extends AsyncDisposable {
  readonly origin: string
  /** What `PushSubscription.toJSON()` of a browser has. */
  device(name: string): { endpoint: string; keys: { p256dh: string; auth: string } }
  readonly received: readonly Received[]
  respond(status: number, headers?: Record<string, string>): void
}

export async function startPushService(): Promise<PushService> {
  const browser = createECDH('prime256v1')
  const p256dh = browser.generateKeys('base64url')
  const auth = randomBytes(16).toString('base64url')
  const received: Received[] = []
  let answer = { status: 201, headers: {} as Record<string, string> }
  const server = createServer(async (req, res) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const plain = ece.decrypt(Buffer.concat(chunks), { version: 'aes128gcm', privateKey: browser, authSecret: auth })
    received.push({ headers: req.headers, path: req.url!, notification: JSON.parse(plain.toString()) })
    res.writeHead(answer.status, answer.headers).end()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    received,
    device: (name) => ({ endpoint: `${origin}/${name}`, keys: { p256dh, auth } }),
    respond(status, headers = {}) {
      answer = { status, headers }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

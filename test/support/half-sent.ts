import type { TestGateway } from './gateway.ts'
import { connectRaw, type RawConnection } from './raw-connection.ts'

interface HalfSent extends RawConnection {
  /** Sends the rest of the body. Resolves with what came back once it contains this. */
  finish(part: string): Promise<string>
}

/** Sends a request without the rest of its body. Resolves when the gateway has checked its key and asks for the body. */
export async function halfSent(
  gateway: Pick<TestGateway, 'url'>,
  path: string,
  key: string,
  given: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<HalfSent> {
  const connection = await connectRaw(gateway.url)
  const body = JSON.stringify(given)
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${key}`,
    'content-type: application/json',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    'expect: 100-continue',
  ]
  connection.socket.write(`${head.join('\r\n')}\r\n\r\n${body[0]}`)
  await connection.answered('100 Continue')
  return {
    ...connection,
    finish(part) {
      connection.socket.write(body.slice(1))
      return connection.answered(part)
    },
  }
}

import { type ClientHttp2Stream, connect } from 'node:http2'
import { SendMessageRequest } from '@a2a-js/sdk'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectionLimits } from '../../src/gateway-limits.ts'
import { sending } from '../a2a/wire.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { bearer, rawClient } from './raw-client.ts'

const { bodyPieces } = connectionLimits
let gateway: TestGateway
let key: string

beforeAll(async () => {
  gateway = await startGateway()
  await gateway.addAgent('donna')
  key = (await gateway.addAgent('mallory')).key
})

afterAll(() => gateway[Symbol.asyncDispose]())

/** A call of `SendMessage` whose text has so many characters, and its message on the wire. */
function beginCall(characters: number) {
  const { path, requestSerialize } = A2AService.sendMessage
  const given = sending({ parts: [{ text: 'x'.repeat(characters) }] })
  const message = requestSerialize(SendMessageRequest.fromJSON({ tenant: 'agents/donna', ...given }))
  const prefix = Buffer.alloc(5)
  prefix.writeUInt32BE(message.length, 1)
  const session = connect(`http://${gateway.grpcTarget}`)
  const isClosed = new Promise<true>((resolve) => session.on('error', () => {}).once('close', () => resolve(true)))
  const headers = {
    ':method': 'POST',
    ':path': path,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...bearer(key),
  }
  const stream = session.request(headers)
  const status = new Promise<string | undefined>((resolve) => {
    const take = (given: Record<string, unknown>) => {
      if (given['grpc-status'] !== undefined) resolve(String(given['grpc-status']))
    }
    stream.on('response', take).on('trailers', take)
    stream.on('error', () => {}).on('close', () => resolve(undefined))
  })
  stream.resume()
  return {
    bytes: Buffer.concat([prefix, message]),
    stream,
    status,
    isClosed,
    [Symbol.dispose]: () => session.destroy(),
  }
}

/** Each byte in a frame of its own. Ends early where the call does. */
async function writeOneByOne(stream: ClientHttp2Stream, bytes: Buffer): Promise<void> {
  const closed = new Promise<void>((resolve) => stream.once('close', resolve))
  for (const byte of bytes) {
    if (stream.destroyed) return
    await Promise.race([closed, new Promise<void>((resolve) => stream.write(Buffer.of(byte), () => resolve()))])
  }
}

test('a message in a few hundred frames of one byte is taken', async () => {
  using call = beginCall(500)
  await writeOneByOne(call.stream, call.bytes)
  call.stream.end()
  expect(await call.status).toBe('0')
})

test('the connection of a call with very many small frames is closed, and other connections are not', async () => {
  using others = rawClient(gateway.grpcTarget)
  using call = beginCall(3 * bodyPieces.max)
  await writeOneByOne(call.stream, call.bytes)
  expect(await call.isClosed).toBe(true)
  const message = SendMessageRequest.fromJSON({ tenant: 'agents/donna', ...sending() })
  expect(await others.unary('sendMessage', message, bearer(key))).toHaveProperty('value')
})

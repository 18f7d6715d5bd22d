import { EventEmitter, once } from 'node:events'
import {
  Client,
  credentials,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { UnreadAnswers } from '../../src/admission/unread-answers.ts'
import { MeteredCall } from '../../src/fronts/grpc/metered-call.ts'

const asItIs = (bytes: Buffer): Buffer => bytes
const method: MethodDefinition<Buffer, Buffer> = {
  path: '/test.Late/Answer',
  requestStream: false,
  responseStream: false,
  requestSerialize: asItIs,
  requestDeserialize: asItIs,
  responseSerialize: asItIs,
  responseDeserialize: asItIs,
}

test('an answer over gRPC to a client that has gone away does not count as unread', async () => {
  const unread = new UnreadAnswers()
  const meter = { unread, stallMs: 60_000, refusal: () => expect.unreachable() }
  const server = new Server({
    interceptors: [
      (definition, wire) => {
        const call = new MeteredCall(wire, {}, definition, meter)
        call.count({ address: 'here' }, () => {})
        return call
      },
    ],
  })
  const steps = new EventEmitter()
  server.addService(
    { answer: method },
    {
      async answer(call: ServerUnaryCall<Buffer, Buffer>, respond: sendUnaryData<Buffer>) {
        steps.emit('asked')
        await once(call, 'cancelled')
        // The `close` of the call's stream comes first.
        await new Promise(setImmediate)
        respond(null, Buffer.alloc(100_000))
        steps.emit('answered')
      },
    },
  )
  const port = await new Promise<number>((bound, fail) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, at) =>
      error ? fail(error) : bound(at),
    ),
  )
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  try {
    const asked = once(steps, 'asked')
    const answered = once(steps, 'answered')
    const failed = new EventEmitter()
    const call = client.makeUnaryRequest(method.path, asItIs, asItIs, Buffer.alloc(1), (error) => {
      failed.emit('code', error?.code)
    })
    const code = once(failed, 'code')
    await asked
    call.cancel()
    expect(await code).toEqual([status.CANCELLED])
    await answered
    expect(unread.bytesOf({ address: 'here' })).toBe(0)
  } finally {
    client.close()
    server.forceShutdown()
  }
})

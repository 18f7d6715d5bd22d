import { SendMessageRequest } from '@a2a-js/sdk'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import { Client, credentials, Metadata } from '@grpc/grpc-js'
import { type Attack, call, manyTimes, send, type Target } from './attacker-calls.ts'

/** What a body of 16 MiB holds of one text, or of bytes in base64. */
const textMax = 15_500_000
const bytesMax = 11_600_000
const concepts = Array.from({ length: 100 }, (_, index) => `${index}`.padEnd(200, 'c'))

/** Sends the largest message over JSON-RPC and gRPC, the largest mail, artifact and description, and asks for the largest answers. */
export const largeAttack: Attack = async (target, ready, signal) => {
  const text = 'x'.repeat(3_000_000)
  const largest = 'x'.repeat(textMax)
  const task = await send(target, 'large')
  const client = new Client(target.grpcTarget, credentials.createInsecure(), {
    'grpc.max_send_message_length': -1,
    'grpc.max_receive_message_length': -1,
  })
  const mail = { to: `@${target.handle}`, subject: 's', body: 'b'.repeat(262_144), taggedConcepts: concepts }
  const acts = [
    () => send(target, text, { returnImmediately: true }, { taggedConcepts: concepts }),
    () => call(target, 'POST', '/v1/messages', JSON.stringify(mail)),
    () => call(target, 'POST', `/v1/tasks/${task}/artifacts`, JSON.stringify({ artifact: { parts: [{ text }] } })),
    () => call(target, 'GET', `/v1/tasks/${task}`),
    () => call(target, 'GET', '/v1/tasks?historyLength=100&includeArtifacts=true&pageSize=100'),
    () => send(target, largest),
    () => sendBytes(client, target),
    () => call(target, 'PATCH', `/v1/agents/${target.handle}`, JSON.stringify({ description: 'd'.repeat(30_000) })),
  ]
  ready()
  await manyTimes(acts.length, signal, async (index) => {
    await acts[index % acts.length]!()
  })
  client.close()
}

/** The largest message over gRPC. Its deadline is that of a wait for the rate of large requests. */
function sendBytes(client: Client, { key, handle }: Target): Promise<void> {
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${key}`)
  const { path, requestSerialize } = A2AService.sendMessage
  const raw = Buffer.alloc(bytesMax, 'x').toString('base64')
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ raw }] }
  const bytes = requestSerialize(SendMessageRequest.fromJSON({ tenant: `agents/${handle}`, message }))
  const same = (value: Buffer) => value
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, same, same, bytes, metadata, { deadline: Date.now() + 40_000 }, () => resolve())
  })
}

import { SubscribeToTaskRequest } from '@a2a-js/sdk'
import { expect, test } from 'vitest'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { startGateway } from '../support/gateway.ts'

test('a gRPC call that stays open holds room for its message alone: an agent opens as many streams as it may, and sends on', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const { id } = await gateway.send('donna', 'long work', { key: lola.key })
  using client = rawClient(gateway.grpcTarget)
  const request = SubscribeToTaskRequest.fromJSON({ tenant: 'agents/donna', id })
  const streams = Array.from({ length: 40 }, () => client.stream('subscribeToTask', request, bearer(lola.key)))
  const opened = streams.map(
    (stream) =>
      new Promise((resolve, reject) => {
        stream.once('data', resolve)
        stream.on('error', reject)
      }),
  )
  await Promise.all(opened)
  expect((await gateway.send('donna', 'x'.repeat(900_000), { key: lola.key })).id).toBeDefined()
  for (const stream of streams) stream.on('error', () => {}).cancel()
})

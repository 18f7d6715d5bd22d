import { status } from '@grpc/grpc-js'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { bearer, rawClient } from './raw-client.ts'

test('calls that are canceled while they wait to begin take no place', async () => {
  await using gateway = await startGateway()
  const bob = await gateway.addAgent('bob')
  using client = rawClient(gateway.grpcTarget)
  await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
  for (let round = 0; round < 3; round++) {
    const streams = Array.from({ length: 50 }, () =>
      client.stream('subscribeToTask', { tenant: 'agents/bob', id: 'x' }, bearer(bob.key)).on('error', () => {}),
    )
    for (const stream of streams) stream.cancel()
  }
  const answer = await client.unary('getTask', { tenant: 'agents/bob', id: 'x' }, bearer(bob.key))
  expect('code' in answer && answer.code).toBe(status.NOT_FOUND)
})

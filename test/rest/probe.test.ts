import { test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
test('probe', async () => {
  await using g = await startGateway()
  console.log((await g.call('POST', '/v1/agents', { handle: 'x y' })).body)
  console.log((await g.call('POST', '/v1/agents', { foo: 1 })).body)
  console.log((await g.call('POST', '/v1/agents', [1])).body)
})

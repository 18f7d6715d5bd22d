import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

test('a request with more fields than any has is refused before its schema names each of them', async () => {
  await using gateway = await startGateway()
  const fields = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`k${index}`, 0]))
  const { status, body } = await gateway.call('POST', '/v1/messages', fields)
  expect([status, body.code, body.detail]).toEqual([
    400,
    'invalid-request',
    expect.stringContaining('more than 1000 fields'),
  ])
})

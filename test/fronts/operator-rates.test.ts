import { expect, test } from 'vitest'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'

/** As much as a project. */
const atOnce = 4_000

test('an operator key that floods is refused on every binding, and the admin key is answered', async () => {
  await using gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  await gateway.addAgent('donna')
  const { body: made } = await gateway.call('POST', '/v1/operator-keys', { role: 'viewer' })
  const key = made.operatorKey as string
  const statuses = new Map<number, number>()
  let left = atOnce + 20
  const ask = async () => {
    while (left-- > 0) {
      const { status } = await gateway.call('GET', '/v1/whoami', undefined, { key })
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: 20 }, ask))
  expect(Object.fromEntries(statuses)).toEqual({ 200: atOnce, 429: 20 })

  const limitName = 'requestsPerMinute'
  const rest = await gateway.call('GET', '/v1/whoami', undefined, { key })
  expect(rest.headers.get('retry-after')).toBe('1')
  expect(rest.body).toMatchObject({ code: 'rate-limited', limitName, detail: expect.stringContaining('Wait 1 s') })
  const list = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params: {} }
  const rpc = await gateway.call('POST', '/agents/donna', list, { key, headers: { 'A2A-Version': '1.0' } })
  expect(rpc).toMatchObject({ status: 429 })
  expect(JSON.stringify(rpc.body)).toContain(limitName)
  using client = rawClient(gateway.grpcTarget)
  const refusal = await client.unary('getTask', { tenant: 'agents/donna', id: 'any' }, bearer(key))
  expect(refusal).toMatchObject({ code: 8, info: { limitName } })
  expect((await gateway.call('GET', '/v1/whoami')).status).toBe(200)
})

import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'

test('a method of JSON-RPC with a large answer is expected to have one again, and no other method of that address', async () => {
  await using gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  await gateway.call('PATCH', '/v1/projects/default', { limits: { largeMegabytesPerMinute: 1 } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  const { id } = await gateway.send('mallory', 'x'.repeat(2_000_000), { configuration: { returnImmediately: true } })
  const rpc = async (method: string, params: object) => {
    await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
    const options = { key: mallory.key, headers: { 'a2a-version': '1.0' } }
    return gateway.call('POST', '/agents/mallory', { jsonrpc: '2.0', id: 1, method, params }, options)
  }
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'small' }] }
  const first = await rpc('GetTask', { id })
  const second = await rpc('GetTask', { id })
  const sent = await rpc('SendMessage', { message, configuration: { returnImmediately: true } })
  expect(first.body.result.id).toBe(id)
  expect(JSON.stringify(second.body)).toContain('largeMegabytesPerMinute')
  expect(sent.body.result.task.status.state).toBe('TASK_STATE_SUBMITTED')
  expect(JSON.stringify((await rpc('GetTask', { id })).body)).toContain('largeMegabytesPerMinute')
})

test('a body with very many fields waits like the large one that takes as long to parse', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  await gateway.call('PATCH', '/v1/projects/default', { limits: { largeMegabytesPerMinute: 1 } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  const send = async (count: number) => {
    await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
    const data = Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 0]))
    const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ data }] }
    const params = { message, configuration: { returnImmediately: true } }
    const call = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }
    const options = { key: mallory.key, headers: { 'a2a-version': '1.0' } }
    let answer: string | undefined
    void gateway.call('POST', '/agents/mallory', call, options).then(({ body }) => (answer = JSON.stringify(body)))
    // The refusal of what is large comes up to a second later.
    return until(
      () => {
        clock.advance(10)
        return answer
      },
      (given) => given !== undefined,
    )
  }
  for (let count = 0; count < 3; count++) expect(await send(3_000)).toContain('TASK_STATE_SUBMITTED')
  expect(await send(95_000)).toContain('TASK_STATE_SUBMITTED')
  expect(await send(95_000)).toContain('largeMegabytesPerMinute')
})

test('a request with more fields than any has is refused before its schema names each of them', async () => {
  await using gateway = await startGateway()
  const fields = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, 0]))
  const { status, body } = await gateway.call('POST', '/v1/messages', fields)
  expect([status, body.code, body.detail]).toEqual([
    400,
    'invalid-request',
    expect.stringContaining('more than 1000 fields'),
  ])
})

import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway } from '../support/gateway.ts'

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

import { expect, test } from 'vitest'
import { FakeClock } from '../../../support/fake-clock.ts'
import { startGateway } from '../../../support/gateway.ts'
import { beginSession, post } from './wire.ts'

test('a task that is large to load counts as large, however little of it a tool shows, while others ask too', async () => {
  await using gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  await gateway.call('PATCH', '/v1/projects/default', { limits: { largeMegabytesPerMinute: 1 } })
  const mallory = await gateway.addAgent('mallory')
  const bob = await gateway.addAgent('bob')
  const { id } = await gateway.send('mallory', 'x'.repeat(2_000_000), { configuration: { returnImmediately: true } })
  const session = await beginSession(gateway, mallory)
  const params = { name: 'get_task', arguments: { taskId: id } }
  const read = async () => {
    await gateway.call('GET', '/v1/whoami', undefined, { key: bob.key })
    return (await post(gateway, mallory, { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session)).body.result
  }
  const results = [await read(), await read(), await read()]
  expect(results.map(({ isError = false }) => isError)).toEqual([false, true, true])
  expect(results[2].content[0].text).toContain('largeMegabytesPerMinute')
  // The refusal is that of the task alone.
  expect((await post(gateway, mallory, { ...ping(), params: {} }, session)).status).toBe(200)
})

const ping = () => ({ jsonrpc: '2.0', id: 2, method: 'ping' })

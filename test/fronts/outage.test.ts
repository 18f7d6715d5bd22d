import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { blockWrites } from '../support/store.ts'

test('while the store accepts no writes, every caller gets a retryable error', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'please' }] }
  const params = { message, configuration: { returnImmediately: true } }
  const headers = { 'A2A-Version': '1.0' }
  const send = () => gateway.call('POST', '/agents/donna/message:send', params, { headers })
  const rpc = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }

  const unblock = await blockWrites(gateway.dataDir)
  const [rest, own, overRpc] = await Promise.all([
    send(),
    gateway.call('POST', '/v1/agents', { handle: 'lucy' }),
    gateway.call('POST', '/agents/donna', rpc, { headers }),
  ])
  await unblock()

  for (const { status, headers } of [rest, own]) expect([status, headers.get('retry-after')]).toEqual([503, '1'])
  expect(own.body.code).toBe('storage-unavailable')
  expect(rest.body.error.message).toMatch(/nothing was (written|stored)/i)
  expect(overRpc.body.error).toMatchObject({ code: -32603, message: rest.body.error.message })
  expect((await send()).body.task.status.state).toBe('TASK_STATE_SUBMITTED')
})

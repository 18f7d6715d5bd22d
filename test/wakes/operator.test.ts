import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

async function listen(gateway: TestGateway, trigger: string, url: string) {
  const request = { trigger, harnessTargetMetadata: { url, coalesceWindow: 0 } }
  const { status } = await gateway.call('POST', '/v1/wake-subscriptions', request)
  expect(status).toBe(201)
}

// S4-6, S4-11: a person follows what it relayed
test('the operator is woken by the status of its mail and by its tasks, and not by its own acts', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  for (const trigger of ['MESSAGE_STATUS_CHANGED', 'TASK_STATE_CHANGED']) {
    await listen(gateway, trigger, receiver.url)
  }
  const { body: sent } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' })
  await gateway.call('POST', `/v1/messages/${sent.messageId}/status`, { status: 'acked' }, donna)
  const [acked] = await receiver.waitFor(1)
  expect(acked!.body).toMatchObject({
    agentIdentity: '@operator',
    payload: { messageId: sent.messageId, status: 'acked' },
  })
  const { id } = await gateway.send('donna', 'Fix the roof')
  await gateway.move(donna, id, 'completed')
  const [, completed] = await receiver.waitFor(2)
  expect(completed!.body.payload).toMatchObject({ taskId: id, newState: 'Completed', originator: '@operator' })
})

test('the operator is not woken by the tasks and the mail of others', async () => {
  await using gateway = await startGateway()
  await using receiver = await startReceiver()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await listen(gateway, 'TASK_STATE_CHANGED', receiver.url)
  const { id } = await gateway.send('donna', 'theirs', { key: mike.key })
  await gateway.move(donna, id, 'completed')
  const own = await gateway.send('donna', 'ours')
  await gateway.move(donna, own.id, 'completed')
  const [wake] = await receiver.waitFor(1)
  expect([wake!.body.payload.taskId, receiver.wakes.length]).toEqual([own.id, 1])
})

import { expect, test } from 'vitest'
import { startGateway } from '../../../support/gateway.ts'
import { overHttp } from './wire.ts'

test('mail ends a wait with a pointer, and stays unread until the model acts', async () => {
  await using gateway = await startGateway()
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  const client = overHttp(gateway, donna)
  const wait = await client.run('wait_for_messages')
  expect(wait).toMatchObject({ resultType: 'task', status: 'working' })
  const polled = client.ask('tasks/get', { taskId: wait.taskId })
  const mail = { to: '@donna', subject: 'Lunch?', body: 'The whole secret' }
  const { body: sent } = await gateway.call('POST', '/v1/messages', mail, bob)
  const { status, result } = await polled
  expect(status).toBe('completed')
  expect(result.structuredContent).toMatchObject({ arrived: true, next: expect.stringContaining('read_inbox') })
  expect(JSON.stringify(result)).not.toMatch(/Lunch|secret/)
  const inbox = async () => (await client.run('read_inbox')).structuredContent.messages
  expect(await inbox()).toMatchObject([{ subject: 'Lunch?', status: 'sent' }])
  const { body: seen } = await gateway.call('GET', `/v1/messages/${sent.messageId}`, undefined, bob)
  expect(seen.recipients[0]).toMatchObject({ status: 'sent', receipt: 'written' })

  // The next wait is for the next mail.
  const next = await client.run('wait_for_messages')
  expect(next.resultType).toBe('task')
  await client.run('mark_message', { messageId: sent.messageId, status: 'seen' })
  const again = client.ask('tasks/get', { taskId: next.taskId })
  await gateway.call('POST', '/v1/messages', { ...mail, wakePolicy: 'next_turn', subject: 'Not urgent' }, bob)
  await gateway.call('POST', '/v1/messages', { ...mail, subject: 'Dinner?' }, bob)
  expect((await again).status).toBe('completed')
  expect(await inbox()).toMatchObject([{ subject: 'Not urgent' }, { subject: 'Dinner?' }])
})

test('mail that is there already is the plain answer of today', async () => {
  await using gateway = await startGateway()
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  await gateway.call('POST', '/v1/sessions', { surface: 'cursor' }, donna)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, bob)
  const answer = await overHttp(gateway, donna).run('wait_for_messages')
  expect(answer.structuredContent).toMatchObject({ arrived: true, pendingSignals: [{ subject: 'Lunch?' }] })
})

test('mail that waits is not lost in the answer with a task: the next result has it', async () => {
  await using gateway = await startGateway()
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  await gateway.call('POST', '/v1/sessions', { surface: 'cursor' }, donna)
  const client = overHttp(gateway, donna)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, bob)
  expect(await client.run('send_task', { to: '@bob', text: 'Hello' })).toMatchObject({ resultType: 'task' })
  expect((await client.run('whoami')).structuredContent.pendingSignals).toMatchObject([{ subject: 'Lunch?' }])
})

test('two waits at once: mail ends one of them', async () => {
  await using gateway = await startGateway()
  const [donna, bob] = [await gateway.addAgent('donna'), await gateway.addAgent('bob')]
  const client = overHttp(gateway, donna)
  const waits = [await client.run('wait_for_messages'), await client.run('wait_for_messages')]
  const polls = waits.map(({ taskId }) => client.ask('tasks/get', { taskId }))
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, bob)
  await Promise.race(polls)
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Dinner?' }, bob)
  for (const poll of polls) expect((await poll).status).toBe('completed')
  const { turns } = (await gateway.call('GET', '/v1/turns', undefined, donna)).body
  expect(turns).toHaveLength(2)
})

import { SendMessageRequest } from '@a2a-js/sdk'
import { expect, test } from 'vitest'
import { envToConfig } from '../../src/config/config.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { legacy, message, wireTo } from './wire.ts'

async function start() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  return { gateway, donna, mike, wire: wireTo(gateway, donna, mike.key) }
}

const openTask = (gateway: TestGateway, agent: TestAgent) =>
  until(
    async () => (await gateway.call('GET', '/v1/tasks?role=assignee&state=submitted', undefined, agent)).body.tasks[0],
    (task) => task !== undefined,
  )
/** Completes the open task as soon as there is one. */
async function answer(gateway: TestGateway, agent: TestAgent, fields: object) {
  const { id } = await openTask(gateway, agent)
  const { status, body } = await gateway.move(agent, id, 'completed', { message: 'forty-two', ...fields })
  expect([status, body.state]).toEqual([200, 'completed'])
  return id
}

// D32
test('a blocking send waits 55 seconds by default', () => {
  expect(envToConfig({}).a2a.blockingTimeoutMs).toBe(55_000)
})

// D32
test.each([
  ['without a configuration', undefined],
  ['with an empty one', {}],
  ['with one that says something else', { historyLength: 1 }],
])('v0.3 does not wait %s', async (_, configuration) => {
  const { gateway, wire } = await start()
  await using _gateway = gateway
  const said = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] }
  const rpc = await wire.rpc('message/send', { message: said, configuration }, legacy)
  expect(rpc.body.result.status.state).toBe('submitted')
  const content = { message: { messageId: 'n', role: 'ROLE_USER', content: [{ text: 'x' }] }, configuration }
  const rest = await wire.rest('POST', '/v1/message:send', content, legacy)
  expect(rest.body.task.status.state).toBe('TASK_STATE_SUBMITTED')
})

// D33
test('a task may be answered by its message: who waits gets the message, everybody else the completed task', async () => {
  const { gateway, donna, mike, wire } = await start()
  await using _gateway = gateway
  const waiting = wire.rpc('SendMessage', { message: message() })
  const id = await answer(gateway, donna, { answerAs: 'message' })
  const { result } = (await waiting).body
  expect(result.message).toMatchObject({ role: 'ROLE_AGENT', taskId: id, parts: [{ text: 'forty-two' }] })
  expect(result.message.contextId).toBeTruthy()
  const task = (await wire.rpc('GetTask', { id })).body.result
  expect(task.status).toMatchObject({ state: 'TASK_STATE_COMPLETED', message: { parts: [{ text: 'forty-two' }] } })
  expect((await gateway.call('GET', `/v1/tasks/${id}`, undefined, mike)).body.state).toBe('completed')
})

// D33
test('the message answers over each binding', async () => {
  const { gateway, donna, mike, wire } = await start()
  await using _gateway = gateway
  const rest = wire.rest('POST', '/message:send', { message: message() })
  await answer(gateway, donna, { answerAs: 'message' })
  expect((await rest).body.message.parts).toEqual([{ text: 'forty-two' }])

  using client = rawClient(gateway.grpcTarget)
  const request = SendMessageRequest.fromJSON({ tenant: 'agents/donna', message: message() })
  const grpc = client.unary('sendMessage', request, bearer(mike.key))
  await answer(gateway, donna, { answerAs: 'message' })
  expect(await grpc).toMatchObject({ value: { payload: { $case: 'message' } } })

  const said = { kind: 'message', messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'x' }] }
  const old = wire.rpc('message/send', { message: said, configuration: { blocking: true } }, legacy)
  await answer(gateway, donna, { answerAs: 'message' })
  expect((await old).body.result).toMatchObject({ kind: 'message', parts: [{ kind: 'text', text: 'forty-two' }] })
})

// D33
test('without answerAs the completed task is the answer', async () => {
  const { gateway, donna, wire } = await start()
  await using _gateway = gateway
  const waiting = wire.rpc('SendMessage', { message: message() })
  const id = await answer(gateway, donna, {})
  expect((await waiting).body.result.task).toMatchObject({ id, status: { state: 'TASK_STATE_COMPLETED' } })
})

// D33
test.each([
  [{ to: 'working', message: 'x', answerAs: 'message' }],
  [{ to: 'completed', answerAs: 'message' }],
  [{ to: 'completed', message: 'x', answerAs: 'letter' }],
])('an answer that is no message of a completed task is refused', async (move) => {
  const { gateway, donna, mike } = await start()
  await using _gateway = gateway
  const { id } = await gateway.send('donna', 'x', { key: mike.key })
  const { body } = await gateway.call('POST', `/v1/tasks/${id}/transitions`, { expectedVersion: 1, ...move }, donna)
  expect(body).toMatchObject({ status: 400, field: 'answerAs' })
})

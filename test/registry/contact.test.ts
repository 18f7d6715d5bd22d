import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

const mail = (gateway: TestGateway, from: TestAgent | undefined, body: object) =>
  gateway.call('POST', '/v1/messages', { subject: 'Hello', ...body }, from ? { key: from.key } : {})
const grant = (gateway: TestGateway, from: TestAgent, grantee: string) =>
  gateway.call('POST', '/v1/permissions', { grantee, scope: 'CAN_REPLY_TO' }, from)
const a2a = async (gateway: TestGateway, from: TestAgent, to: string, message = {}) => {
  const params = { message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'Hi' }], ...message } }
  const body = {
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: { ...params, configuration: { returnImmediately: true } },
  }
  const answer = await gateway.call('POST', `/agents/${to}`, body, { key: from.key, headers: { 'A2A-Version': '1.0' } })
  return answer.body.result?.task ?? answer.body.error.message
}

async function startListed() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna', { contactPolicy: 'listed' })
  const mike = await gateway.addAgent('mike')
  return { gateway, donna, mike }
}

test('every agent of the project may write to an agent, unless its policy forbids it', async () => {
  const { gateway, donna, mike } = await startListed()
  await using _gateway = gateway
  expect((await gateway.call('GET', '/v1/agents/mike')).body.contactPolicy).toBe('everybody')
  expect((await gateway.call('GET', '/v1/agents/donna')).body.contactPolicy).toBe('listed')
  expect((await mail(gateway, donna, { to: '@mike' })).status).toBe(201)
  const opened = await gateway.call('PATCH', '/v1/agents/donna', { contactPolicy: 'everybody' }, donna)
  expect(opened.body.contactPolicy).toBe('everybody')
  expect((await mail(gateway, mike, { to: '@donna' })).status).toBe(201)
  const wrong = await gateway.call('PATCH', '/v1/agents/donna', { contactPolicy: 'nobody' }, donna)
  expect(wrong.body).toMatchObject({ status: 400, field: 'contactPolicy' })
})

// S1-26
test('an agent with a list accepts mail from agents with CAN_REPLY_TO, until it revokes that', async () => {
  const { gateway, donna, mike } = await startListed()
  await using _gateway = gateway
  const refused = { status: 403, code: 'forbidden', field: 'to', detail: expect.stringContaining('CAN_REPLY_TO') }
  expect((await mail(gateway, mike, { to: '@donna' })).body).toMatchObject(refused)
  const { permissionId } = (await grant(gateway, donna, '@mike')).body
  expect((await mail(gateway, mike, { to: '@donna' })).status).toBe(201)
  await gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, donna)
  expect((await mail(gateway, mike, { to: '@donna' })).body).toMatchObject(refused)
  expect((await mail(gateway, donna, { to: '@donna' })).status).toBe(201)
})

test('its own messages may always be answered, but no other message of the thread', async () => {
  const { gateway, donna, mike } = await startListed()
  await using _gateway = gateway
  const lola = await gateway.addAgent('lola')
  const { messageId } = (await mail(gateway, donna, { to: '@mike' })).body
  expect((await mail(gateway, mike, { inReplyTo: messageId })).status).toBe(201)
  const answer = await mail(gateway, mike, { to: '@donna', inReplyTo: messageId })
  expect(answer.status).toBe(201)
  const forwarded = (await mail(gateway, mike, { to: '@lola', inReplyTo: messageId })).body
  expect((await mail(gateway, lola, { to: '@donna', inReplyTo: forwarded.messageId })).status).toBe(403)
  expect((await mail(gateway, lola, { to: '@donna', inReplyTo: messageId })).body.code).toBe('message-not-found')
})

// S4-11
test('a person writes into any inbox', async () => {
  const { gateway, donna } = await startListed()
  await using _gateway = gateway
  expect((await mail(gateway, undefined, { to: '@donna' })).status).toBe(201)
  const { messages } = (await gateway.call('GET', '/v1/inbox', undefined, donna)).body
  expect(messages).toMatchObject([{ from: '@operator', type: 'relay' }])
})

// D10
test('a broadcast skips agents that do not accept mail from the sender', async () => {
  const { gateway, donna, mike } = await startListed()
  await using _gateway = gateway
  await gateway.addAgent('lola')
  const reached = async () =>
    (await mail(gateway, mike, { to: '*' })).body.recipients.map(({ agent }: { agent: string }) => agent).sort()
  expect(await reached()).toEqual(['@lola'])
  await grant(gateway, donna, '@mike')
  expect(await reached()).toEqual(['@donna', '@lola'])
})

test('the list applies to A2A too: a new task is refused, an existing one continues', async () => {
  const { gateway, donna, mike } = await startListed()
  await using _gateway = gateway
  expect(await a2a(gateway, mike, 'donna')).toMatch(
    /^@donna accepts mail only from agents on its list\. .*CAN_REPLY_TO/,
  )
  const { permissionId } = (await grant(gateway, donna, '@mike')).body
  const task = await a2a(gateway, mike, 'donna')
  await gateway.move(donna, task.id, 'working')
  await gateway.move(donna, task.id, 'input-required', { message: 'Which branch?' })
  await gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, donna)
  expect((await a2a(gateway, mike, 'donna', { taskId: task.id })).id).toBe(task.id)
  expect(await a2a(gateway, mike, 'donna')).toMatch(/CAN_REPLY_TO/)
})

import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'

const web = { 'Rouse-Project': 'web' }

async function startTwoProjects(): Promise<TestGateway> {
  const gateway = await startGateway()
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  return gateway
}
const addTo = (gateway: TestGateway, handle: string, fields = {}): Promise<TestAgent> =>
  gateway.addAgent(handle, { project: 'web', ...fields })
const mail = (gateway: TestGateway, from: TestAgent | undefined, body: object) =>
  gateway.call('POST', '/v1/messages', { subject: 'Hello', ...body }, from ? { key: from.key } : {})
const grant = (gateway: TestGateway, from: TestAgent, grantee: string) =>
  gateway.call('POST', '/v1/permissions', { grantee, scope: 'CAN_REPLY_TO' }, from)
const inboxOf = async (gateway: TestGateway, agent: TestAgent) =>
  (await gateway.call('GET', '/v1/inbox', undefined, agent)).body.messages

// S4-14
test('a project is made once, listed by name, and only by the operator', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const make = (project: unknown, key?: TestAgent) => gateway.call('POST', '/v1/projects', { project }, key)
  const answers = await Promise.all([make('web'), make('Web'), make('web')])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 201])
  expect((await gateway.call('GET', '/v1/projects')).body.projects).toEqual([
    { project: 'default', createdAt: expect.any(String) },
    { project: 'web', createdAt: expect.any(String) },
  ])
  expect((await make('shop', donna)).status).toBe(403)
  expect((await gateway.call('GET', '/v1/projects', undefined, donna)).status).toBe(403)
  for (const name of ['', 'a:b', '-a', 'a_b', 'a'.repeat(41), 7]) {
    expect((await make(name)).body, String(name)).toMatchObject({ status: 400, field: 'project' })
  }
})

// S4-14
test('projects are separate: handles, agents, logs, subscriptions', async () => {
  await using gateway = await startTwoProjects()
  const here = await gateway.addAgent('donna')
  const there = await addTo(gateway, 'donna')
  const listed = await gateway.call('GET', '/v1/agents', undefined, { key: there.key })
  expect(listed.body.agents).toMatchObject([{ handle: '@donna', project: 'web' }])
  await gateway.subscribe(there, 'http://127.0.0.1:9/', { trigger: 'SENT_TO_ME' })
  const subscriptions = (headers = {}) => gateway.call('GET', '/v1/wake-subscriptions', undefined, { headers })
  expect((await subscriptions()).body.subscriptions).toEqual([])
  expect((await subscriptions(web)).body.subscriptions).toMatchObject([{ agentIdentity: '@donna' }])
  const events = await gateway.call('GET', '/v1/events', undefined, { headers: web })
  expect(events.body.events.map(({ type }: { type: string }) => type)).toEqual([
    'project.created',
    'agent.created',
    'subscription.created',
  ])
  expect((await gateway.call('GET', '/v1/agents', undefined, here)).body.agents).toMatchObject([{ project: 'default' }])
})

// S4-14
test('the operator names a project, an agent has its own and no other', async () => {
  await using gateway = await startTwoProjects()
  const donna = await addTo(gateway, 'donna')
  const show = (headers: Record<string, string>, key?: string) =>
    gateway.call('GET', '/v1/agents/donna', undefined, { headers, ...(key ? { key } : {}) })
  expect((await show({})).status).toBe(404)
  expect((await show(web)).body.project).toBe('web')
  expect((await show(web, donna.key)).body.project).toBe('web')
  expect((await show({ 'Rouse-Project': 'default' }, donna.key)).body).toMatchObject({
    status: 403,
    field: 'Rouse-Project',
  })
  expect((await show({ 'Rouse-Project': 'nowhere' })).body.code).toBe('project-not-found')
  expect((await show({ 'Rouse-Project': 'no where' })).body).toMatchObject({ status: 400, field: 'Rouse-Project' })
  const lost = await gateway.call('POST', '/v1/agents', { handle: 'x', project: 'nowhere' })
  expect(lost.body.code).toBe('project-not-found')
})

// S4-14, S1-26
test('mail to another project needs a permission, and names the sender with its project there', async () => {
  await using gateway = await startTwoProjects()
  await using receiver = await startReceiver()
  const mike = await gateway.addAgent('mike')
  const donna = await addTo(gateway, 'donna')
  await addTo(gateway, 'mike')
  expect((await mail(gateway, mike, { to: 'web:@donna' })).body).toMatchObject({
    status: 403,
    field: 'to',
    detail: expect.stringContaining('CAN_REPLY_TO'),
  })
  await grant(gateway, donna, 'default:@mike')
  await gateway.subscribe(donna, receiver.url, { trigger: 'SENT_TO_ME', filters: { senderFilter: ['default:@mike'] } })
  const sent = await mail(gateway, mike, { to: 'web:donna', type: 'question' })
  expect(sent.status).toBe(201)
  expect(await inboxOf(gateway, donna)).toMatchObject([{ from: 'default:@mike', type: 'question' }])
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.payload.from).toBe('default:@mike')
  const { events } = (await gateway.call('GET', '/v1/events', undefined, { headers: web })).body
  expect(events.at(-1)).toMatchObject({ type: 'message.sent', actor: 'default:@mike' })
})

// S4-14
test('an agent that wrote to another project can be answered from there', async () => {
  await using gateway = await startTwoProjects()
  const mike = await gateway.addAgent('mike')
  const donna = await addTo(gateway, 'donna')
  await grant(gateway, donna, 'default:mike')
  const { messageId, threadId } = (await mail(gateway, mike, { to: 'web:donna' })).body
  expect((await mail(gateway, donna, { to: 'default:mike' })).status).toBe(403)
  const answer = await mail(gateway, donna, { to: 'default:mike', inReplyTo: messageId, body: 'Yes.' })
  expect(answer.body).toMatchObject({ threadId, recipients: [{ agent: '@mike' }] })
  expect(await inboxOf(gateway, mike)).toMatchObject([{ from: 'web:@donna', inReplyTo: messageId }])
})

// S4-14
test('a broadcast to another project reaches those who allow it', async () => {
  await using gateway = await startTwoProjects()
  const mike = await gateway.addAgent('mike')
  const [donna, lola] = [await addTo(gateway, 'donna'), await addTo(gateway, 'lola')]
  expect((await mail(gateway, mike, { to: 'web:*' })).status).toBe(403)
  await grant(gateway, donna, 'default:mike')
  expect((await mail(gateway, mike, { to: 'web:*' })).body.recipients).toMatchObject([{ agent: '@donna' }])
  expect(await inboxOf(gateway, lola)).toEqual([])
  expect((await mail(gateway, undefined, { to: 'web:*' })).body.recipients).toHaveLength(2)
  expect(await inboxOf(gateway, lola)).toMatchObject([{ from: '@operator', type: 'relay' }])
})

// S4-14
test('a private agent of another project is not there, until it grants something', async () => {
  await using gateway = await startTwoProjects()
  const mike = await gateway.addAgent('mike')
  const shy = await addTo(gateway, 'shy', { access: 'private' })
  const [hidden, absent] = [await mail(gateway, mike, { to: 'web:shy' }), await mail(gateway, mike, { to: 'web:sly' })]
  expect(hidden.body.status).toBe(404)
  expect(JSON.stringify(hidden.body).replaceAll('shy', 'sly')).toBe(JSON.stringify(absent.body))
  expect(hidden.body.candidates).toEqual([])
  await grant(gateway, shy, 'default:mike')
  expect((await mail(gateway, mike, { to: 'web:shy' })).status).toBe(201)
  const card = await gateway.call('GET', '/projects/web/agents/shy/.well-known/agent-card.json', undefined, mike)
  expect(card.status).toBe(200)
})

// S1-26
test('a grant across projects wakes the grantee, and is one in either list', async () => {
  await using gateway = await startTwoProjects()
  await using receiver = await startReceiver()
  const mike = await gateway.addAgent('mike')
  const donna = await addTo(gateway, 'donna')
  await gateway.subscribe(mike, receiver.url, { trigger: 'PERMISSION_GRANTED' })
  // Without a grant of its own the grantee is not notified: no agent writes to another project's log without permission.
  await gateway.call('POST', '/v1/permissions', { grantee: 'web:@donna', scope: 'CAN_READ_MEMORIES_OF' }, mike)
  await grant(gateway, donna, 'default:@mike')
  const [wake] = await receiver.waitFor(1)
  expect(wake!.body.payload).toMatchObject({ scope: 'CAN_REPLY_TO', grantedBy: 'web:@donna' })
  const list = async (agent: TestAgent) =>
    (await gateway.call('GET', '/v1/permissions', undefined, agent)).body.permissions
  expect(await list(mike)).toMatchObject([{ grantor: '@mike' }, { grantor: 'web:@donna', grantee: '@mike' }])
  const [, { permissionId, ...shown }] = await list(donna)
  expect(shown).toMatchObject({ grantor: '@donna', grantee: 'default:@mike' })
  const manage = { grantee: 'default:mike', scope: 'CAN_MANAGE_SUBSCRIPTIONS_OF' }
  expect((await gateway.call('POST', '/v1/permissions', manage, donna)).body).toMatchObject({
    status: 400,
    field: 'scope',
  })
  expect((await gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, mike)).status).toBe(403)
  expect((await gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, donna)).status).toBe(204)
  expect((await mail(gateway, mike, { to: 'web:donna' })).status).toBe(403)
})

import { expect, test } from 'vitest'
import { run } from '../cli/terminal.ts'
import { startTrusting } from '../identity/trusting.ts'
import { startIssuer } from '../support/issuer.ts'
import { openDesk, request } from './desk.ts'
import { personKey } from './person-key.ts'

interface Event {
  readonly type: string
  readonly actor: string
  readonly data: { readonly person?: string }
}

test('what an operator with a name does is on record under it: events, mail, tasks, and their views', async () => {
  await using desk = await openDesk()
  const { gateway, donna, anna } = desk
  const as = { key: anna }
  const { body: mail } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' }, as)
  const task = await gateway.send('@donna', 'Deploy', as)
  await gateway.move(donna, task.id, 'working')
  await gateway.move({ handle: '@operator', key: anna }, task.id, 'canceled')
  const read = await gateway.call('GET', `/v1/messages/${mail.messageId}`, undefined, donna)
  expect(read.body).toMatchObject({ from: '@operator', person: 'anna' })
  const inbox = await gateway.call('GET', '/v1/inbox', undefined, donna)
  expect(inbox.body.messages).toMatchObject([
    { person: 'anna', type: 'task' },
    { person: 'anna', subject: 'Hello' },
  ])
  await gateway.call('PATCH', '/v1/gate', { restarts: 'disabled', reason: 'tonight' }, as)
  const { approvalId, inputHash } = (await desk.ask()).body
  await desk.decide(approvalId, { answer: 'once', inputHash })
  const { events } = (await gateway.call('GET', '/v1/events?since=0', undefined, as)).body as { events: Event[] }
  const by = events
    .filter(({ data }) => data.person !== undefined)
    .map(({ type, actor, data }) => `${type} ${actor} ${data.person}`)
  expect(by).toEqual([
    'message.sent @operator anna',
    'message.sent @operator anna',
    'task.state_changed @operator anna',
    'task.state_changed @operator anna',
    'gate.changed @operator anna',
    'approval.closed @operator anna',
  ])
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: anna }
  expect((await run(['whoami'], env)).stdout).toMatch(
    /name: +anna\n.*scopes: +read, send, work, manage, mint, approve\n/s,
  )
  expect((await run(['thread', mail.threadId], env)).stdout).toContain('from:     anna (@operator)')
  expect((await run(['tail', '--since', '0'], env)).stdout).toMatch(/anna +approval closed/)
  expect((await run(['audit', '--operation', 'approval.decide'], env)).stdout).toMatch(
    new RegExp(`@operator +anna +\\S+ +rest +approval.decide +ok +1 +${approvalId} once ${inputHash}`),
  )
})

test('the admin key and a key without a label have no name', async () => {
  await using desk = await openDesk()
  const { gateway } = desk
  const whoami = async (key: string) => (await gateway.call('GET', '/v1/whoami', undefined, { key })).body
  expect(await whoami(gateway.adminKey)).toMatchObject({ name: null })
  const { operatorKey } = (await gateway.call('POST', '/v1/operator-keys', { role: 'manager' })).body
  expect(await whoami(operatorKey)).toMatchObject({ name: null })
  expect(await whoami(desk.anna)).toMatchObject({ name: 'anna', scopes: expect.arrayContaining(['approve']) })
  expect(await whoami(desk.donna.key)).not.toHaveProperty('name')
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello' })
  expect((await gateway.call('GET', '/v1/inbox', undefined, desk.donna)).body.messages[0]).not.toHaveProperty('person')
})

test('who makes a key that approves names its person, is an admin, and gives it to no viewer and to no agent', async () => {
  await using desk = await openDesk()
  const { gateway, anna, donna } = desk
  const make = async (body: object, key = gateway.adminKey) =>
    (await gateway.call('POST', '/v1/operator-keys', body, { key })).body
  expect(await make({ role: 'manager', approve: true })).toMatchObject({ status: 400, field: 'label' })
  expect(await make({ role: 'manager', approve: true, label: '' })).toMatchObject({ status: 400, field: 'label' })
  expect(await make({ role: 'viewer', approve: true, label: 'vera' })).toMatchObject({ status: 400, field: 'approve' })
  expect(await make({ role: 'manager', approve: true, label: 'ben' }, anna)).toMatchObject({ status: 403 })
  expect(await make({ role: 'manager', approve: true, label: 'ben' }, donna.key)).toMatchObject({ status: 403 })
  const ofAgent = (scopes?: string[], key = gateway.adminKey) =>
    gateway.call('POST', '/v1/agents/donna/keys', scopes ? { scopes } : {}, { key })
  expect((await ofAgent(['read', 'approve'])).body).toMatchObject({ status: 400, field: 'scopes[1]' })
  expect((await ofAgent(['approve'], anna)).status).toBe(400)
  expect((await ofAgent(undefined, anna)).body.scopes).toEqual(['read', 'send', 'work', 'manage', 'mint'])
  const listed = (await gateway.call('GET', '/v1/operator-keys')).body.keys
  expect(listed).toMatchObject([{ label: 'anna', approve: true }])
})

test('a token approves only where its issuer is trusted with names, and it names the scope and the person', async () => {
  await using issuer = await startIssuer()
  const claims = { role: 'role', scopes: 'scope', name: 'email' }
  await using gateway = await startTrusting(issuer, { claims, projects: ['default'] })
  const donna = await gateway.addAgent('donna')
  const { approvalId, inputHash } = (await gateway.call('POST', '/v1/approvals', request(), donna)).body
  const decide = async (said: object) => {
    const key = await issuer.sign({ sub: 'anna', role: 'manager', jti: crypto.randomUUID(), ...said })
    return gateway.call('POST', `/v1/approvals/${approvalId}/decision`, { answer: 'once', inputHash }, { key })
  }
  const email = 'anna@example.com'
  for (const said of [
    {},
    { email },
    { scope: 'approve' },
    { scope: 'read', email },
    { scope: 'approve', email: '' },
    { scope: 'approve', email: 'an\u202ena' },
    { scope: 'approve', email: ['anna'] },
    { scope: 'approve', email, role: 'viewer' },
    { scope: 'approve', email, sub: 'donna', role: 'nobody' },
  ]) {
    expect((await decide(said)).body, JSON.stringify(said)).toMatchObject({ status: 403 })
  }
  expect((await decide({ scope: 'approve', email })).body).toMatchObject({ decision: { by: email } })
})

test('a key that may approve is made by an admin with the scope mint alone, and shows that in its list', async () => {
  await using desk = await openDesk()
  const ines = await personKey(desk.gateway, 'ines', { role: 'admin' })
  const made = await desk.gateway.call(
    'POST',
    '/v1/operator-keys',
    { role: 'manager', label: 'ben', approve: true },
    { key: ines },
  )
  expect(made.status).toBe(201)
  const env = { ROUSE_URL: desk.gateway.url, ROUSE_KEY: ines }
  expect((await run(['operator', 'key', 'list'], env)).stdout).toMatch(/ben +manager, approve/)
})

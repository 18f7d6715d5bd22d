import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

test('an agent is registered, read by any of its names, changed and removed', async () => {
  await using gateway = await startGateway()
  const made = await gateway.call('POST', '/v1/agents', {
    handle: '@Donna',
    displayName: 'Donna',
    aliases: ['reviewer', '@donna'],
    skills: [{ id: 'review', name: 'Review', tags: ['code'] }],
  })
  expect(made.status).toBe(201)
  expect(made.headers.get('location')).toBe('/v1/agents/donna')
  expect(made.body.apiKey).toMatch(/^rk_[\w-]{43}$/)
  expect(made.body.agent).toMatchObject({ handle: '@donna', aliases: ['@reviewer'], version: 1, access: 'project' })
  for (const name of ['donna', '@donna', 'DONNA', 'reviewer', '%40Reviewer']) {
    expect((await gateway.call('GET', `/v1/agents/${name}`)).body.handle).toBe('@donna')
  }
  const changed = await gateway.call('PATCH', '/v1/agents/reviewer', { description: 'reviews', aliases: ['checker'] })
  expect(changed.body).toMatchObject({
    displayName: 'Donna',
    description: 'reviews',
    aliases: ['@checker'],
    version: 2,
  })
  expect((await gateway.call('GET', '/v1/agents/reviewer')).status).toBe(404)
  expect((await gateway.call('DELETE', '/v1/agents/checker')).body).toEqual({
    agent: '@donna',
    tasksRejected: 0,
  })
  expect((await gateway.call('GET', '/v1/agents/donna')).body).toMatchObject({ status: 404, code: 'agent-not-found' })
  expect((await gateway.call('GET', '/v1/agents')).body).toEqual({ agents: [], nextPageToken: '' })
})

test('names are unique over handles and aliases, in any order of registration', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna', { aliases: ['reviewer'] })
  await gateway.addAgent('mike')
  const attempts: [string, string, object, string][] = [
    ['POST', '/v1/agents', { handle: 'donna' }, 'handle'],
    ['POST', '/v1/agents', { handle: 'Reviewer' }, 'handle'],
    ['POST', '/v1/agents', { handle: 'new', aliases: ['x', 'DONNA'] }, 'aliases'],
    ['PATCH', '/v1/agents/mike', { aliases: ['y', 'reviewer'] }, 'aliases'],
  ]
  for (const [method, path, body, field] of attempts) {
    const answer = await gateway.call(method, path, body)
    expect(answer.body).toMatchObject({ status: 409, code: 'agent-exists', field })
  }
  expect((await gateway.call('GET', '/v1/agents/x')).status).toBe(404)
  expect((await gateway.call('GET', '/v1/agents/mike')).body).toMatchObject({ aliases: [], version: 1 })
  await gateway.call('PATCH', '/v1/agents/donna', { aliases: [] })
  expect((await gateway.call('PATCH', '/v1/agents/mike', { aliases: ['reviewer'] })).status).toBe(200)
})

test('twenty registrations of one handle at once make one agent', async () => {
  await using gateway = await startGateway()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => gateway.call('POST', '/v1/agents', { handle: 'donna' })),
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
})

test("registering and removing are the operator's; changing and keys also the agent's own", async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const as = (key: string, method: string, path: string, body?: object) =>
    gateway.call(method, path, body, { key }).then(({ status }) => status)
  expect(await as(donna.key, 'POST', '/v1/agents', { handle: 'new' })).toBe(403)
  expect(await as(donna.key, 'DELETE', '/v1/agents/donna')).toBe(403)
  expect(await as(mike.key, 'PATCH', '/v1/agents/donna', { description: 'mine now' })).toBe(403)
  expect(await as(mike.key, 'GET', '/v1/agents/donna/keys')).toBe(403)
  expect(await as(mike.key, 'POST', '/v1/agents/donna/keys')).toBe(403)
  expect(await as(donna.key, 'PATCH', '/v1/agents/donna', { description: 'me' })).toBe(200)
  expect(await as(donna.key, 'GET', '/v1/agents/donna/keys')).toBe(200)
  expect(await as(gateway.adminKey, 'GET', '/v1/agents/donna/keys')).toBe(200)
})

test('a key is shown once, listed without the key, and refused at once after its revocation', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const made = await gateway.call('POST', '/v1/agents/donna/keys', { label: 'laptop' }, donna)
  expect(made.status).toBe(201)
  const { keyId, apiKey } = made.body
  const whoAmI = (key: string) => gateway.call('GET', '/v1/tasks', undefined, { key })
  expect((await whoAmI(apiKey)).status).toBe(200)
  const listed = await gateway.call('GET', '/v1/agents/donna/keys', undefined, donna)
  expect(listed.body.keys).toMatchObject([
    { label: 'first', revokedAt: null },
    { keyId, label: 'laptop', revokedAt: null },
  ])
  expect(JSON.stringify(listed.body)).not.toContain(apiKey.slice(3))
  const path = `/v1/agents/donna/keys/${keyId}`
  expect((await gateway.call('DELETE', path, undefined, { key: apiKey })).status).toBe(204)
  expect((await whoAmI(apiKey)).status).toBe(401)
  expect((await whoAmI(donna.key)).status).toBe(200)
  expect((await gateway.call('DELETE', path, undefined, donna)).body.code).toBe('key-not-found')
})

test('a removed agent leaves no key, subscription or permission; its tasks stay for their originators', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  await gateway.call('POST', '/v1/permissions', { grantee: 'mike', scope: 'CAN_REPLY_TO' }, donna)
  const task = await gateway.send('donna', 'hello', { key: mike.key })
  await gateway.call('DELETE', '/v1/agents/donna')
  expect((await gateway.call('GET', '/v1/tasks', undefined, donna)).status).toBe(401)
  expect((await gateway.call('GET', '/v1/wake-subscriptions')).body.subscriptions).toEqual([])
  expect((await gateway.call('GET', '/v1/permissions', undefined, mike)).body.permissions).toEqual([])
  const read = await gateway.call('GET', `/v1/tasks/${task.id}`, undefined, mike)
  expect(read.body).toMatchObject({ assignee: '@removed', originator: '@mike' })
  const again = await gateway.addAgent('donna')
  expect((await gateway.call('GET', `/v1/tasks/${task.id}`, undefined, again)).status).toBe(404)
})

test('two skills of one id are refused, with the field and the remedy', async () => {
  await using gateway = await startGateway()
  const skills = [
    { id: 'review', name: 'Review' },
    { id: 'review', name: 'Review again' },
  ]
  const refused = { status: 400, body: { code: 'invalid-request', field: 'skills' } }
  const made = await gateway.call('POST', '/v1/agents', { handle: 'donna', skills })
  expect(made).toMatchObject(refused)
  expect(made.body.detail).toContain('Give each an id of its own')
  const donna = await gateway.addAgent('donna', { skills: skills.slice(0, 1) })
  expect(await gateway.call('PATCH', '/v1/agents/donna', { skills }, donna)).toMatchObject(refused)
})

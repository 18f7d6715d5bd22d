import { expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

const change = (gateway: TestGateway, agent: TestAgent, body: object) =>
  gateway.call('PATCH', `/v1/agents/${agent.handle.slice(1)}`, body, agent)
const mailTo = (gateway: TestGateway, from: TestAgent, to: string) =>
  gateway.call('POST', '/v1/messages', { to, subject: 'For your eyes only' }, from)

// The attack: mallory takes the names of one that was removed, and of those that are still to come.
test('no agent gives itself an address: neither that of a removed agent nor a free one', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const [bob, mallory] = [await gateway.addAgent('bob'), await gateway.addAgent('mallory')]
  await gateway.call('DELETE', '/v1/agents/donna')
  expect((await change(gateway, mallory, { aliases: ['donna', 'billing', 'ceo', 'root'] })).body).toMatchObject({
    status: 403,
    field: 'aliases',
    detail: expect.stringContaining('only the operator adds addresses'),
  })
  for (const displayName of ['Donna', 'billing', 'CEO']) {
    expect((await change(gateway, mallory, { displayName })).body).toMatchObject({ status: 403, field: 'displayName' })
  }
  expect((await mailTo(gateway, bob, '@donna')).body.code).toBe('agent-not-found')
  expect((await mailTo(gateway, bob, 'billing')).body.code).toBe('agent-not-found')
  await gateway.addAgent('billing')
  const donna = await gateway.addAgent('donna')
  expect((await mailTo(gateway, bob, '@donna')).status).toBe(201)
  expect((await gateway.call('GET', '/v1/inbox', undefined, donna)).body.messages).toHaveLength(1)
  expect((await gateway.call('GET', '/v1/inbox', undefined, mallory)).body.messages).toEqual([])
})

test('an agent keeps and removes its own aliases, and may take a display name that is its own already', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna', { aliases: ['lead', 'reviewer'] })
  expect((await change(gateway, donna, { aliases: ['reviewer'] })).body.aliases).toEqual(['@reviewer'])
  expect((await change(gateway, donna, { aliases: ['reviewer', 'lead'] })).status).toBe(403)
  for (const displayName of ['Donna', 'Reviewer', null]) {
    expect((await change(gateway, donna, { displayName })).status).toBe(200)
  }
  await gateway.call('PATCH', '/v1/agents/donna', { displayName: 'Douro' })
  expect((await change(gateway, donna, { displayName: 'Douro', description: 'reviews' })).status).toBe(200)
})

test('a removed agent’s names stay its own, until it is registered again or the operator frees them', async () => {
  await using gateway = await startGateway()
  const register = (fields: object) => gateway.call('POST', '/v1/agents', fields)
  await gateway.addAgent('donna', { aliases: ['lead'], displayName: 'Sintra' })
  await gateway.addAgent('mike')
  await gateway.call('DELETE', '/v1/agents/donna')
  const kept = { status: 409, code: 'agent-exists', detail: expect.stringContaining('freeNames=true') }
  expect((await register({ handle: 'lead' })).body).toMatchObject({ ...kept, field: 'handle' })
  expect((await register({ handle: 'x', displayName: 'Sintra' })).body).toMatchObject({ ...kept, field: 'displayName' })
  const take = (body: object) => gateway.call('PATCH', '/v1/agents/mike', body)
  expect((await take({ aliases: ['donna'] })).body).toMatchObject({ ...kept, field: 'aliases' })
  // Registered again without them, the agent still has them kept for it.
  expect((await register({ handle: 'donna' })).status).toBe(201)
  expect((await take({ aliases: ['lead'] })).body).toMatchObject(kept)
  expect((await gateway.call('PATCH', '/v1/agents/donna', { aliases: ['lead'] })).status).toBe(200)
  await gateway.call('DELETE', '/v1/agents/donna')
  expect((await gateway.call('DELETE', '/v1/agents/donna')).status).toBe(404)
  expect((await gateway.call('DELETE', '/v1/agents/donna?freeNames=true')).status).toBe(200)
  expect((await take({ aliases: ['donna', 'lead'], displayName: 'Sintra' })).status).toBe(200)
  expect((await gateway.call('DELETE', '/v1/agents/donna?freeNames=true')).status).toBe(200)
  expect((await register({ handle: 'mike' })).status).toBe(201)
})

import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

test('every key may ask whose it is, also one that may do nothing else, and never gets the key', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const made = await gateway.call(
    'POST',
    '/v1/agents/donna/keys',
    { scopes: ['send'], expiresInSeconds: 3600 },
    { key: donna.key },
  )
  const { keyId, apiKey, expiresAt } = made.body
  const answer = await gateway.call('GET', '/v1/whoami', undefined, { key: apiKey })
  expect(answer.body).toEqual({
    kind: 'agent',
    identity: '@donna',
    project: 'default',
    keyId,
    scopes: ['send'],
    expiresAt,
  })
  const admin = await gateway.call('GET', '/v1/whoami')
  expect(admin.body).toMatchObject({ kind: 'operator', identity: '@operator', keyId: 'admin', role: 'admin' })
  const viewer = await gateway.call('POST', '/v1/operator-keys', { role: 'viewer', projects: ['default'] })
  const seen = await gateway.call('GET', '/v1/whoami', undefined, { key: viewer.body.operatorKey })
  expect(seen.body).toMatchObject({ identity: '@operator', role: 'viewer', projects: ['default'], scopes: ['read'] })
  expect((await gateway.call('GET', '/v1/whoami', undefined, { key: 'rk_none' })).status).toBe(401)
})

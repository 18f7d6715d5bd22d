import { expect, test } from 'vitest'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const grant = (gateway: TestGateway, agent: { key: string } | undefined, body: object) =>
  gateway.call('POST', '/v1/permissions', body, agent)
const list = async (gateway: TestGateway, agent?: { key: string }) =>
  (await gateway.call('GET', '/v1/permissions', undefined, agent)).body.permissions

test('granting twice is granting once, also at the same time', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  const input = { grantee: '@mike', scope: 'CAN_REPLY_TO' }
  const answers = await Promise.all(Array.from({ length: 5 }, () => grant(gateway, donna, input)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 201])
  expect(new Set(answers.map(({ body }) => body.permissionId)).size).toBe(1)
  const { body } = await gateway.call('GET', '/v1/events')
  expect(body.events.filter(({ type }: { type: string }) => type === 'permission.granted')).toHaveLength(1)
})

test('a grant is visible to its two parties and the operator, is revoked by its grantor, and can be granted again', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const ines = await gateway.addAgent('ines')
  const { permissionId } = (await grant(gateway, donna, { grantee: 'mike', scope: 'CAN_READ_INBOX_OF' })).body
  for (const reader of [donna, mike, undefined]) {
    expect(await list(gateway, reader)).toMatchObject([{ permissionId, grantor: '@donna', grantee: '@mike' }])
  }
  expect(await list(gateway, ines)).toEqual([])
  const revoke = (agent: { key: string }) => gateway.call('DELETE', `/v1/permissions/${permissionId}`, undefined, agent)
  expect((await revoke(ines)).status).toBe(404)
  expect((await revoke(mike)).status).toBe(403)
  expect((await revoke(donna)).status).toBe(204)
  expect((await revoke(donna)).status).toBe(404)
  expect((await grant(gateway, donna, { grantee: 'mike', scope: 'CAN_READ_INBOX_OF' })).status).toBe(201)
})

test('only the operator grants on behalf of another agent, and no agent grants to itself', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const onBehalf = { grantee: 'donna', scope: 'CAN_REPLY_TO', grantor: 'mike' }
  expect((await grant(gateway, donna, onBehalf)).status).toBe(403)
  expect((await grant(gateway, undefined, onBehalf)).status).toBe(201)
  expect((await grant(gateway, mike, { grantee: 'mike', scope: 'CAN_REPLY_TO' })).body).toMatchObject({
    status: 400,
    field: 'grantee',
  })
  expect((await grant(gateway, mike, { grantee: 'nobody', scope: 'CAN_REPLY_TO' })).body.code).toBe('agent-not-found')
})

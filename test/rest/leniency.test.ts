import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'

// S4-7
test('a claim is released by its ref in the body or in the query, and by one that says neither not at all', async () => {
  await using gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const call = (method: string, path: string, body?: object) => gateway.call(method, path, body, lola)
  for (const ref of ['one', 'path/with space']) await call('POST', '/v1/claims', { ref })
  expect((await call('DELETE', '/v1/claims')).body).toMatchObject({ status: 400, field: 'ref' })
  expect((await call('DELETE', '/v1/claims?reference=one')).body).toMatchObject({ status: 400 })
  expect((await call('DELETE', '/v1/claims', { ref: 'one', force: true })).body).toMatchObject({ field: 'force' })
  expect((await call('DELETE', '/v1/claims', { ref: 'one' })).status).toBe(204)
  expect((await call('DELETE', `/v1/claims?ref=${encodeURIComponent('path/with space')}`)).status).toBe(204)
  expect((await call('GET', '/v1/claims')).body.claims).toEqual([])
})

// S2-10
test('unread=1 and unread=0 say what true and false say', async () => {
  await using gateway = await startGateway()
  const lola = await gateway.addAgent('lola')
  const donna = await gateway.addAgent('donna')
  const { body } = await gateway.call('POST', '/v1/messages', { to: 'donna', subject: 'x' }, lola)
  const inbox = async (unread: string) =>
    (await gateway.call('GET', `/v1/inbox?unread=${unread}`, undefined, donna)).body.messages?.length
  expect([await inbox('true'), await inbox('1')]).toEqual([1, 1])
  await gateway.call('POST', `/v1/messages/${body.messageId}/status`, { status: 'seen' }, donna)
  expect([await inbox('true'), await inbox('1'), await inbox('false'), await inbox('0')]).toEqual([0, 0, 1, 1])
  expect(await inbox('yes')).toBeUndefined()
})

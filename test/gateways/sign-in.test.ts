import { expect, test } from 'vitest'
import { startTwo } from './two-gateways.ts'

test('a sign-in link of one gateway works at the other, once in all', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const donna = await a.addAgent('donna')
  for (let n = 0; n < 3; n++) {
    const { body } = await a.call('POST', '/v1/sign-in-codes', undefined, donna)
    const signIn = (gateway: typeof a) => gateway.call('POST', '/page/sign-in', undefined, { key: body.code })
    const answers = await Promise.all([signIn(a), signIn(b), signIn(a), signIn(b)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401])
    expect(answers.find(({ status }) => status === 200)!.body).toEqual({ key: donna.key })
  }
})

test('a link dies with its key, also where the key was revoked at another gateway', async () => {
  await using two = await startTwo()
  const { a, b } = two
  const { body: key } = await a.call('POST', '/v1/operator-keys', { role: 'viewer' })
  const { body } = await a.call('POST', '/v1/sign-in-codes', undefined, { key: key.operatorKey })
  await b.call('DELETE', `/v1/operator-keys/${key.keyId}`)
  expect((await a.call('POST', '/page/sign-in', undefined, { key: body.code })).status).toBe(401)
})

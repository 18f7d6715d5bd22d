import { expect, test } from 'vitest'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'

const codeOf = async (gateway: TestGateway, key?: string): Promise<string> => {
  const { status, body } = await gateway.call('POST', '/v1/sign-in-codes', undefined, key === undefined ? {} : { key })
  expect(status).toBe(201)
  expect(body.path).toBe(`/#/sign-in/${body.code}`)
  return body.code
}
const signIn = (gateway: TestGateway, code: string | null) =>
  gateway.call('POST', '/page/sign-in', undefined, { key: code })

const refusal = {
  code: 'unauthenticated',
  detail: 'The sign-in link is wrong, was used already or has expired. Print a new one with `rouse open`.',
}

test('a code signs in once, with the key that made it and its rights', async () => {
  await using gateway = await startGateway()
  const { key } = await gateway.addAgent('donna')
  const { body: viewer } = await gateway.call('POST', '/v1/operator-keys', { role: 'viewer' })
  for (const bearer of [key, viewer.operatorKey, gateway.adminKey]) {
    const code = await codeOf(gateway, bearer)
    const { status, body, headers } = await signIn(gateway, code)
    expect([status, body, headers.get('cache-control')]).toEqual([200, { key: bearer }, 'no-store'])
    expect((await signIn(gateway, code)).body).toMatchObject(refusal)
  }
})

test('of many who use a code at the same time one signs in', async () => {
  await using gateway = await startGateway()
  const code = await codeOf(gateway)
  const answers = await Promise.all(Array.from({ length: 8 }, () => signIn(gateway, code)))
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)])
})

test('a wrong, an expired and a used code, and one whose key has ended, get the same refusal', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const { key } = await gateway.addAgent('donna')
  const refused: unknown[] = []
  const look = async (code: string | null) => {
    const { status, body } = await signIn(gateway, code)
    refused.push({ status, ...body })
  }
  await look(`rs_${'A'.repeat(43)}`)
  await look('nothing')
  await look(null)
  // A key is no code.
  await look(key)
  const used = await codeOf(gateway)
  await signIn(gateway, used)
  await look(used)
  const expired = await codeOf(gateway)
  const inTime = await codeOf(gateway)
  clock.advance(59_999)
  expect((await signIn(gateway, inTime)).status).toBe(200)
  clock.advance(1)
  await look(expired)
  const { body: other } = await gateway.call('POST', '/v1/agents/donna/keys', {}, { key })
  const ofEnded = await codeOf(gateway, other.apiKey)
  await gateway.call('DELETE', `/v1/agents/donna/keys/${other.keyId}`)
  await look(ofEnded)
  expect(refused).toHaveLength(7)
  for (const one of refused) expect(one).toMatchObject({ status: 401, ...refusal })
})

test('neither the code nor the key is in the store, and expired codes are removed', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const { key } = await gateway.addAgent('donna')
  const code = await codeOf(gateway, key)
  const rows = () => besideStore(gateway.dataDir, 'select * from sign_in_code')
  const [row] = await rows()
  expect(JSON.stringify(row)).not.toContain(code)
  expect(JSON.stringify(row)).not.toContain(key)
  clock.advance(60_000)
  await until(
    async () => {
      clock.advance(60_000)
      return (await rows()).length
    },
    (count) => count === 0,
  )
})

test('a code is no key of the API, and is not taken by GET', async () => {
  await using gateway = await startGateway()
  const code = await codeOf(gateway)
  expect((await gateway.call('GET', '/v1/whoami', undefined, { key: code })).status).toBe(401)
  expect((await gateway.call('GET', '/page/sign-in', undefined, { key: code })).status).toBe(404)
  expect((await signIn(gateway, code)).status).toBe(200)
})

test('who guesses codes is slowed down as with keys, and the audit has who made and used one', async () => {
  await using gateway = await startGateway({ env: { ROUSE_WRONG_KEYS_PER_MINUTE: '2' } })
  const { key } = await gateway.addAgent('donna')
  await signIn(gateway, await codeOf(gateway, key))
  const wrong = [0, 1, 2].map((n) => signIn(gateway, `rs_${n}`))
  expect((await Promise.all(wrong)).map(({ body }) => body.code)).toContain('rate-limited')
  const records = await until(
    async (): Promise<{ operation: string }[]> => (await gateway.call('GET', '/v1/audit?limit=100')).body.records,
    (found) => found.some(({ operation }) => operation === 'signInCode.use'),
  )
  for (const operation of ['signInCode.make', 'signInCode.use']) {
    expect(records.find((one) => one.operation === operation)).toMatchObject({ actor: '@donna', outcome: 'ok' })
  }
})

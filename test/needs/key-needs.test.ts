import { expect, test } from 'vitest'
import { run } from '../cli/terminal.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'

const dayMs = 86_400_000
const daySeconds = 86_400

const keysIn = async (gateway: TestGateway, options: object = {}) =>
  (await gateway.call('GET', '/v1/needs?kind=key', undefined, options)).body.needs

const addKey = async (gateway: TestGateway, handle: string, body: object) =>
  (await gateway.call('POST', `/v1/agents/${handle}/keys`, body)).body

test('a key that ends within a week waits for a person until it is revoked, renewed, or over', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const lola = await gateway.addAgent('lola')
  const laptop = await addKey(gateway, 'donna', { label: 'laptop', expiresInSeconds: 10 * daySeconds })
  const end = new Date(clock.now() + 10 * dayMs).toISOString()
  const soon = new Date(clock.now() + 3 * dayMs).toISOString()
  expect(await keysIn(gateway)).toEqual([])
  await clock.advance(4 * dayMs)
  const [need] = await keysIn(gateway)
  expect(need).toMatchObject({
    id: `key:${laptop.keyId}`,
    urgency: 'late',
    agent: '@donna',
    keyId: laptop.keyId,
    since: soon,
    until: end,
  })
  expect(need.text).toContain('"laptop"')
  // An agent sees its own keys.
  expect(await keysIn(gateway, { key: donna.key })).toHaveLength(1)
  expect(await keysIn(gateway, { key: lola.key })).toEqual([])
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  expect(await keysIn(gateway, { headers: { 'Rouse-Project': 'web' } })).toEqual([])
  // A key for something else renews nothing, nor does one that ends before.
  await addKey(gateway, 'donna', { label: 'server' })
  const short = await addKey(gateway, 'donna', { label: 'laptop', expiresInSeconds: daySeconds })
  expect(await keysIn(gateway)).toHaveLength(2)
  await clock.advance(1_000)
  const next = await addKey(gateway, 'donna', { label: 'laptop', expiresInSeconds: 90 * daySeconds })
  expect(await keysIn(gateway)).toEqual([])
  await gateway.call('DELETE', `/v1/agents/donna/keys/${next.keyId}`)
  await gateway.call('DELETE', `/v1/agents/donna/keys/${short.keyId}`)
  expect(await keysIn(gateway)).toHaveLength(1)
  await gateway.call('DELETE', `/v1/agents/donna/keys/${laptop.keyId}`)
  expect(await keysIn(gateway)).toEqual([])
})

test('an admin sees the operator keys that end, another operator its own', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock } })
  const make = async (body: object) => (await gateway.call('POST', '/v1/operator-keys', body)).body
  const anna = await make({ role: 'viewer', label: 'anna', expiresInSeconds: daySeconds })
  await clock.advance(1_000)
  const bert = await make({ role: 'manager', label: 'bert', projects: ['default'], expiresInSeconds: 2 * daySeconds })
  const ids = async (options: object = {}) =>
    (await keysIn(gateway, options)).map(({ keyId }: { keyId: string }) => keyId)
  expect(await ids()).toEqual([anna.keyId, bert.keyId])
  expect(await ids({ key: bert.operatorKey })).toEqual([bert.keyId])
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const { stdout } = await run(['needs'], env)
  expect(stdout).toMatch(/^Late: 2\.\n/)
  expect(stdout).toContain(`rouse operator key rm ${anna.keyId}`)
  await clock.advance(1_000)
  await make({ role: 'viewer', label: 'anna' })
  expect(await ids()).toEqual([bert.keyId])
  await gateway.call('DELETE', `/v1/operator-keys/${bert.keyId}`)
  expect(await ids()).toEqual([])
})

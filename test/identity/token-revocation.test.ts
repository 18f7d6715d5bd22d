import type { JWTPayload } from 'jose'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { FakeClock } from '../support/fake-clock.ts'
import type { TestGateway } from '../support/gateway.ts'
import { type Issuer, startIssuer } from '../support/issuer.ts'
import { besideStore } from '../support/store.ts'
import { until } from '../support/until.ts'
import { startTrusting } from './trusting.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

const statusOf = async (gateway: TestGateway, key: string) =>
  (await gateway.call('GET', '/v1/whoami', undefined, { key })).status
const revokeBy = (gateway: TestGateway, body: JsonObject, key = gateway.adminKey) =>
  gateway.call('POST', '/v1/tokens/revoke', body, { key })
const revoke = (gateway: TestGateway, token: string) => revokeBy(gateway, { token })
const stateOf = async (gateway: TestGateway, id: string) =>
  (await gateway.call('GET', `/v1/wake-subscriptions/${id}`)).body as JsonObject

/** A gateway on a clock that moves by hand, and the next one on its store: that one knows only what the store keeps. */
async function startOn(clock: FakeClock, issuer: Issuer, before?: TestGateway): Promise<TestGateway> {
  await before?.stop()
  const gateway = await startTrusting(issuer, {}, { overrides: { clock }, ...(before && { dataDir: before.dataDir }) })
  if (!before) await gateway.addAgent('donna')
  return gateway
}

/** Moves time on, and waits until the store has forgotten the revocations whose end has come. */
async function sweepAfter(gateway: TestGateway, clock: FakeClock, ms: number): Promise<void> {
  clock.advance(ms)
  const marker = 'jwt:an-old-one'
  await besideStore(gateway.dataDir, 'insert into revoked_token (id, expires_at) values (?, ?)', marker, clock.now())
  await until(
    () => {
      clock.advance(15_000)
      return besideStore(gateway.dataDir, 'select id from revoked_token where id = ?', marker)
    },
    ({ length }) => length === 0,
  )
}

// The attack: a login is revoked by one of its tokens, and the attacker waits until that token has expired.
test('a revoked login stays revoked: neither its other tokens nor the next ones are accepted', async () => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  await using gateway = await startOn(clock, issuer)
  const sign = (minutes: number, sid = 'one-login') =>
    issuer.sign({ sid, exp: clock.now() / 1000 + minutes * 60 }, { now: clock.now() })
  const [first, longer] = [await sign(5), await sign(600)]
  expect((await revoke(gateway, first)).status).toBe(204)
  await sweepAfter(gateway, clock, 10 * minuteMs)
  await using next = await startOn(clock, issuer, gateway)
  expect(await statusOf(next, longer)).toBe(401)
  expect(await statusOf(next, await sign(5))).toBe(401)
  await sweepAfter(next, clock, 300 * dayMs)
  await using last = await startOn(clock, issuer, next)
  expect(await statusOf(last, await sign(5))).toBe(401)
  expect(await statusOf(last, await sign(5, 'another-login'))).toBe(200)
})

test.each([
  ['the later end first', [900, 800]],
  ['the later end last', [800, 900]],
])('of two revocations under one key id the later end counts: %s', async (_, days) => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  await using gateway = await startOn(clock, issuer)
  const end = (inDays: number) => clock.now() / 1000 + inDays * 86_400
  const tokens = await Promise.all(
    days.map((inDays) => issuer.sign({ sid: 'one-login', exp: end(inDays) }, { now: clock.now() })),
  )
  const longest = await issuer.sign({ sid: 'one-login', exp: end(1_000) }, { now: clock.now() })
  for (const token of tokens) expect((await revoke(gateway, token)).status).toBe(204)
  await sweepAfter(gateway, clock, 850 * dayMs)
  await using next = await startOn(clock, issuer, gateway)
  expect(await statusOf(next, longest)).toBe(401)
})

test('tokens without an id, a login and a time of issue are told apart by their end', async () => {
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer)
  await gateway.addAgent('donna')
  const end = Math.floor(Date.now() / 1000) + 300
  const [token, next] = await Promise.all([end, end + 60].map((exp) => issuer.sign({ iat: undefined, exp } as never)))
  expect((await revoke(gateway, token!)).status).toBe(204)
  expect([await statusOf(gateway, token!), await statusOf(gateway, next!)]).toEqual([401, 200])
})

/** The issuer may name admins: only what they make outlives their token by itself. */
const withRoles = { claims: { project: 'project', role: 'role' }, projects: '*' }

/** Makes what a thief would: a subscription with a token of donna's, and a key with a token of an admin. */
async function leaveBehind(gateway: TestGateway, clock: FakeClock, issuer: Issuer) {
  const sign = (claims: JWTPayload) => issuer.sign(claims, { now: clock.now() })
  const ofDonna = await sign({ project: 'default', jti: 'of donna' })
  const ofAdmin = await sign({ sub: 'ops', role: 'admin', sid: 'of an admin' })
  const { id } = await gateway.subscribe({ handle: '@donna', key: ofDonna }, 'http://127.0.0.1:9/')
  const minted = await gateway.call('POST', '/v1/agents/donna/keys', { scopes: ['read'] }, { key: ofAdmin })
  const idOf = async (key: string) => (await gateway.call('GET', '/v1/whoami', undefined, { key })).body.keyId as string
  const ids = { idOfDonna: await idOf(ofDonna), idOfAdmin: await idOf(ofAdmin) }
  return { ofDonna, ofAdmin, ...ids, subscription: id, minted: minted.body.apiKey as string }
}

// The attack: a stolen token makes what outlives it, and nobody notices before the token has expired.
test('what an expired token left behind can be revoked with it', async () => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  await using stranger = await startIssuer()
  await using gateway = await startTrusting(issuer, withRoles, { overrides: { clock } })
  await gateway.addAgent('donna')
  const mike = await gateway.addAgent('mike')
  const left = await leaveBehind(gateway, clock, issuer)
  const claims = { sub: 'ops', role: 'admin', sid: 'of an admin', exp: clock.now() / 1000 + 300 }
  clock.advance(60 * minuteMs)
  expect([await statusOf(gateway, left.ofDonna), await statusOf(gateway, left.ofAdmin)]).toEqual([401, 401])
  const forged = [
    await stranger.sign({ ...claims, iss: issuer.url }),
    await issuer.sign({ ...claims, aud: 'elsewhere' }),
    await issuer.sign({ ...claims, nbf: claims.exp + 60 }),
  ]
  for (const token of forged) expect((await revoke(gateway, token)).body).toMatchObject({ status: 400, field: 'token' })
  expect((await revokeBy(gateway, { token: left.ofDonna }, mike.key)).status).toBe(403)
  expect((await stateOf(gateway, left.subscription)).reason).not.toBe('key-revoked')
  expect(await statusOf(gateway, left.minted)).toBe(200)

  expect((await revoke(gateway, left.ofDonna)).status).toBe(204)
  expect(await stateOf(gateway, left.subscription)).toMatchObject({ status: 'paused', reason: 'key-revoked' })
  expect((await revokeBy(gateway, { token: left.ofAdmin, minted: true })).status).toBe(204)
  for (const key of [left.minted, left.ofDonna, left.ofAdmin]) expect(await statusOf(gateway, key)).toBe(401)
})

test('an admin revokes a token that nobody has any more by its key id', async () => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer, withRoles, { overrides: { clock } })
  const donna = await gateway.addAgent('donna')
  const left = await leaveBehind(gateway, clock, issuer)
  clock.advance(60 * minuteMs)
  const keyId = left.idOfDonna
  const manager = (await gateway.call('POST', '/v1/operator-keys', { role: 'manager' })).body.operatorKey
  for (const key of [donna.key, manager]) expect((await revokeBy(gateway, { keyId }, key)).status).toBe(403)
  for (const [body, field] of [
    [{}, 'token'],
    [{ token: left.ofDonna, keyId }, 'keyId'],
    [{ keyId: 'admin' }, 'keyId'],
    [{ keyId: keyId.slice(1) }, 'keyId'],
  ] as const) {
    expect((await revokeBy(gateway, body)).body, JSON.stringify(body)).toMatchObject({ status: 400, field })
  }
  expect((await revokeBy(gateway, { keyId })).status).toBe(204)
  expect(await stateOf(gateway, left.subscription)).toMatchObject({ status: 'paused', reason: 'key-revoked' })
  expect((await revokeBy(gateway, { keyId: left.idOfAdmin })).status).toBe(204)
  const again = await issuer.sign({ sub: 'ops', role: 'admin', sid: 'of an admin' }, { now: clock.now() })
  expect([await statusOf(gateway, again), await statusOf(gateway, left.minted)]).toEqual([401, 200])
  expect((await revokeBy(gateway, { keyId: left.idOfAdmin, minted: true })).status).toBe(204)
  expect(await statusOf(gateway, left.minted)).toBe(401)
})

test('a token may revoke itself by its key id', async () => {
  await using issuer = await startIssuer()
  await using gateway = await startTrusting(issuer)
  await gateway.addAgent('donna')
  const token = await issuer.sign({ jti: 'one' })
  const { keyId } = (await gateway.call('GET', '/v1/whoami', undefined, { key: token })).body
  expect((await revokeBy(gateway, { keyId }, token)).status).toBe(204)
  expect(await statusOf(gateway, token)).toBe(401)
})

// The attack: a request with the token writes through another gateway, which has not seen the revocation yet.
test('rows that are written during the revocation of a token are found and ended', async () => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  await using gateway = await startOn(clock, issuer)
  const token = await issuer.sign({ jti: 'one' }, { now: clock.now() })
  const { keyId } = (await gateway.call('GET', '/v1/whoami', undefined, { key: token })).body
  expect((await revoke(gateway, token)).status).toBe(204)
  const { id } = await gateway.subscribe(await gateway.addAgent('mike'), 'http://127.0.0.1:9/')
  await besideStore(gateway.dataDir, 'update subscription set key_id = ? where id = ?', keyId, id)
  await until(
    async () => {
      clock.advance(15_000)
      return stateOf(gateway, id)
    },
    ({ reason }) => reason === 'key-revoked',
  )
})

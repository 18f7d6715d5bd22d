import { expect, test } from 'vitest'
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
const revoke = (gateway: TestGateway, token: string) => gateway.call('POST', '/v1/tokens/revoke', { token })

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

test('a revocation that an earlier version kept for minutes is extended when the token is revoked again', async () => {
  const clock = new FakeClock()
  await using issuer = await startIssuer()
  await using gateway = await startOn(clock, issuer)
  const sign = () => issuer.sign({ sid: 'one-login' }, { now: clock.now() })
  expect((await revoke(gateway, await sign())).status).toBe(204)
  await besideStore(gateway.dataDir, 'update revoked_token set expires_at = ?', clock.now() + 5 * minuteMs)
  expect((await revoke(gateway, await sign())).status).toBe(204)
  await sweepAfter(gateway, clock, 10 * minuteMs)
  await using next = await startOn(clock, issuer, gateway)
  expect(await statusOf(next, await sign())).toBe(401)
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

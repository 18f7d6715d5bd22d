import { expect, test } from 'vitest'
import { Problem } from '../../src/errors.ts'
import { FailedTries } from '../../src/fronts/failed-tries.ts'
import { accessLimits } from '../../src/gateway-limits.ts'
import { silentLogger } from '../../src/logger.ts'
import { createClientAddress } from '../../src/security/client-address.ts'
import { FakeClock } from '../support/fake-clock.ts'

const wrong = new Problem('unauthenticated')
const { max } = accessLimits.failedTries
const at = (remote: string, forwardedFor?: string) => ({ remote, forwardedFor })

function tries() {
  const one = new FailedTries({ clock: new FakeClock(), log: silentLogger }, createClientAddress(['10.9.0.0/16']))
  return (address: string) => (one.judge(wrong, at(address), 'rk_guess') as Problem).code
}

test.each([
  ['one IPv4 address, in both of its spellings', ['203.0.113.7', '::ffff:203.0.113.7']],
  ['one network of IPv6', ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9%eth0']],
  ['one network of IPv6, however its zeros are written', ['2001:db8::1', '2001:db8:0:0:1:2:3:4']],
])('%s is one address', (_what, addresses) => {
  const judge = tries()
  for (let i = 0; i < max; i++) expect(judge(addresses[i % 2]!)).toBe('unauthenticated')
  expect(judge(addresses[0]!)).toBe('rate-limited')
  expect(judge('198.51.100.1')).toBe('unauthenticated')
})

test('the number of remembered addresses is bounded', () => {
  const judge = tries()
  for (let i = 0; i <= max; i++) judge('203.0.113.7')
  expect(judge('203.0.113.7')).toBe('rate-limited')
  for (let i = 0; i < accessLimits.failedAddresses.max; i++) judge(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  expect(judge('203.0.113.7')).toBe('unauthenticated')
})

test('only wrong keys are counted', () => {
  const one = new FailedTries({ clock: new FakeClock(), log: silentLogger }, createClientAddress(['10.9.0.0/16']))
  const other = new Problem('not-found')
  for (let i = 0; i < 2 * max; i++) {
    expect(one.judge(other, at('203.0.113.7'), 'rk_right')).toBe(other)
    expect(one.judge(wrong, at('203.0.113.7'), undefined)).toBe(wrong)
  }
  expect(one.judge(wrong, at('203.0.113.7'), 'rk_guess')).toBe(wrong)
})

test('a request through a trusted proxy counts for the client it names; other proxies are not believed', () => {
  const one = new FailedTries({ clock: new FakeClock(), log: silentLogger }, createClientAddress(['10.9.0.0/16']))
  const judge = (remote: string, forwardedFor: string) =>
    (one.judge(wrong, at(remote, forwardedFor), 'rk_guess') as Problem).code
  for (let i = 0; i <= max; i++) judge('10.9.0.1', '203.0.113.7')
  expect(judge('10.9.0.1', '203.0.113.7')).toBe('rate-limited')
  expect(judge('10.9.0.1', '198.51.100.1')).toBe('unauthenticated')
  for (let i = 0; i <= max; i++) judge('192.0.2.1', `198.51.100.${i}`)
  expect(judge('192.0.2.1', '198.51.100.200')).toBe('rate-limited')
})

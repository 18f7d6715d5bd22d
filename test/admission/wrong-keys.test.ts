import { expect, test } from 'vitest'
import { WrongKeys } from '../../src/admission/wrong-keys.ts'
import { Problem } from '../../src/errors.ts'
import { gatewayLimits } from '../../src/limits.ts'
import { silentLogger } from '../../src/logger/logger.ts'
import { createClientAddress } from '../../src/security/client-address.ts'
import { FakeClock } from '../support/fake-clock.ts'

const wrong = new Problem('unauthenticated')
const { max } = gatewayLimits.wrongKeys
const at = (remote: string, forwardedFor?: string) => ({ remote, forwardedFor })

/** Judges at once what would be answered a second late. */
function wrongKeys() {
  const fake = new FakeClock()
  const after = (_ms: number, work: () => void) => {
    queueMicrotask(work)
    return () => {}
  }
  const clock = { now: () => fake.now(), after }
  return new WrongKeys({ clock, log: silentLogger }, createClientAddress(['10.9.0.0/16']))
}

function tries() {
  const one = wrongKeys()
  return async (address: string) => ((await one.judge(wrong, at(address), 'rk_guess')) as Problem).code
}

test.each([
  ['one IPv4 address, in both of its spellings', ['203.0.113.7', '::ffff:203.0.113.7']],
  ['one network of IPv6', ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9%eth0']],
  ['one network of IPv6, however its zeros are written', ['2001:db8::1', '2001:db8:0:0:1:2:3:4']],
])('%s is one address', async (_what, addresses) => {
  const judge = tries()
  for (let i = 0; i < max; i++) expect(await judge(addresses[i % 2]!)).toBe('unauthenticated')
  expect(await judge(addresses[0]!)).toBe('rate-limited')
  expect(await judge('198.51.100.1')).toBe('unauthenticated')
})

test('the number of remembered addresses is bounded', async () => {
  const judge = tries()
  for (let i = 0; i <= max; i++) await judge('203.0.113.7')
  expect(await judge('203.0.113.7')).toBe('rate-limited')
  for (let i = 0; i < 10_000; i++) await judge(`10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
  expect(await judge('203.0.113.7')).toBe('unauthenticated')
})

test('only wrong keys are counted', async () => {
  const one = wrongKeys()
  const other = new Problem('not-found')
  for (let i = 0; i < 2 * max; i++) {
    expect(await one.judge(other, at('203.0.113.7'), 'rk_right')).toBe(other)
    expect(await one.judge(wrong, at('203.0.113.7'), undefined)).toBe(wrong)
  }
  expect(await one.judge(wrong, at('203.0.113.7'), 'rk_guess')).toBe(wrong)
})

test('a request through a trusted proxy counts for the client it names; other proxies are not believed', async () => {
  const one = wrongKeys()
  const judge = async (remote: string, forwardedFor: string) =>
    ((await one.judge(wrong, at(remote, forwardedFor), 'rk_guess')) as Problem).code
  for (let i = 0; i <= max; i++) await judge('10.9.0.1', '203.0.113.7')
  expect(await judge('10.9.0.1', '203.0.113.7')).toBe('rate-limited')
  expect(await judge('10.9.0.1', '198.51.100.1')).toBe('unauthenticated')
  for (let i = 0; i <= max; i++) await judge('192.0.2.1', `198.51.100.${i}`)
  expect(await judge('192.0.2.1', '198.51.100.200')).toBe('rate-limited')
})

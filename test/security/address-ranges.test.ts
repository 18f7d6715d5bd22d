import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { expect, test } from 'vitest'
import { createAddressPolicy } from '../../src/security/address-policy.ts'

const strict = createAddressPolicy([])

const refusedV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
]
const refusedV6 = [
  '::/16',
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
]

test.each([...refusedV4, ...refusedV6.filter((cidr) => cidr !== '::/16')])('every address in %s is refused', (cidr) => {
  fc.assert(fc.property(addressIn(cidr), (address) => !strict.check(address).allowed))
})

test('every address in ::/16 is refused', () => {
  fc.assert(
    fc.property(addressIn('::/16'), (address) => !strict.check(address).allowed),
    { numRuns: 1000 },
  )
})

const isRefusedV4 = (address: string) =>
  refusedV4.some((cidr) => ipaddr.parse(address).match(ipaddr.parseCIDR(cidr))) || address === '168.63.129.16'

test('every other IPv4 address is allowed', () => {
  fc.assert(
    fc.property(
      addressIn('0.0.0.0/0').filter((address) => !isRefusedV4(address)),
      (address) => strict.check(address).allowed,
    ),
    { numRuns: 2000 },
  )
})

test.each(['2400::/12', '2600::/12', '2800::/12', '2a00::/12', '2c00::/12'])('addresses in %s are allowed', (cidr) => {
  fc.assert(fc.property(addressIn(cidr), (address) => strict.check(address).allowed))
})

test.each(['::ffff:', '64:ff9b::'])(
  'an IPv4 behind %s has the verdict of the IPv4, with or without ranges',
  (prefix) => {
    const open = createAddressPolicy(['10.0.0.0/8', '127.0.0.0/8'])
    const any = fc.oneof(addressIn('0.0.0.0/0'), ...refusedV4.map(addressIn), fc.constant('169.254.169.254'))
    fc.assert(
      fc.property(any, fc.constantFrom(strict, open), (address, policy) => {
        const verdict = policy.check(address)
        expect(policy.check(prefix + address)).toEqual(verdict)
        expect(policy.check(prefix + hex(address))).toEqual(verdict)
      }),
      { numRuns: 1000 },
    )
  },
)

test.each([
  ['v4-compatible', (v4: string) => `::${v4}`],
  ['SIIT', (v4: string) => `::ffff:0:${v4}`],
  ['ISATAP', (v4: string) => `2606:4700::5efe:${v4}`],
  ['local NAT64', (v4: string) => `64:ff9b:1::${v4}`],
  ['6to4', (v4: string) => `2002:${hex(v4)}::1`],
  ['Teredo', (v4: string) => `2001:0:${hex(v4)}::1`],
])('%s around any IPv4 is refused', (_, wrap) => {
  fc.assert(fc.property(addressIn('0.0.0.0/0'), (v4) => !strict.check(wrap(v4)).allowed))
})

test('every spelling of an IPv6 address has one verdict', () => {
  const dotted = fc.tuple(
    fc.constantFrom('::', '::ffff:', '::ffff:0:', '64:ff9b::', '2606:4700::'),
    addressIn('0.0.0.0/0'),
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.ipV6(),
        dotted.map(([prefix, v4]) => prefix + v4),
      ),
      (text) => {
        const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1)
        expect(strict.check(text)).toEqual(strict.check(canonical))
      },
    ),
    { numRuns: 1000 },
  )
})

test('any text gets a verdict, and only addresses are allowed', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV4Extended(), fc.ipV6()), (text) => {
      if (strict.check(text).allowed) expect(ipaddr.isValid(text)).toBe(true)
    }),
  )
})

/** Addresses of a range, its first and its last among them. */
function addressIn(cidr: string): fc.Arbitrary<string> {
  const [base, bits] = ipaddr.parseCIDR(cidr)
  const bytes = base.toByteArray()
  const withRest = (rest: readonly number[]) =>
    ipaddr
      .fromByteArray(
        bytes.map((byte, i) => {
          const fixed = Math.min(8, Math.max(0, bits - i * 8))
          const mask = (0xff00 >> fixed) & 0xff
          return (byte & mask) | (rest[i]! & ~mask & 0xff)
        }),
      )
      .toString()
  const byte = fc.integer({ min: 0, max: 255 })
  return fc.oneof(
    { weight: 20, arbitrary: fc.array(byte, { minLength: bytes.length, maxLength: bytes.length }).map(withRest) },
    { weight: 1, arbitrary: fc.constantFrom(withRest(bytes.map(() => 0)), withRest(bytes.map(() => 255))) },
  )
}

/** 127.0.0.1 as `7f00:1`. */
function hex(v4: string): string {
  const [a, b, c, d] = v4.split('.').map(Number) as [number, number, number, number]
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

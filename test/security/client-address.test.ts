import { expect, test } from 'vitest'
import { createClientAddress } from '../../src/security/client-address.ts'

test.each([
  ['no proxy is trusted: what the client says of itself is nothing', [], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['a socket of both families', [], '::ffff:203.0.113.9', undefined, '203.0.113.9'],
  ['not through the proxy', ['10.0.0.0/8'], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  ['through the proxy', ['10.0.0.0/8'], '10.0.0.7', '198.51.100.1', '198.51.100.1'],
  ['the client wrote the left part itself', ['10.0.0.0/8'], '10.0.0.7', '1.2.3.4, 198.51.100.1', '198.51.100.1'],
  ['through two proxies', ['10.0.0.0/8', '::1'], '::1', '1.2.3.4, 198.51.100.1, 10.0.0.7', '198.51.100.1'],
  ['a proxy that says nothing', ['10.0.0.0/8'], '10.0.0.7', undefined, '10.0.0.7'],
  ['no address', ['10.0.0.0/8'], '10.0.0.7', 'unknown', '10.0.0.7'],
  ['a forged line', ['10.0.0.0/8'], '10.0.0.7', '1.1.1.1\n{"forged":true}', '10.0.0.7'],
  ['nothing but proxies', ['10.0.0.0/8'], '10.0.0.7', '10.0.0.8, 10.0.0.9', '10.0.0.8'],
  ['a socket that is gone', ['10.0.0.0/8'], undefined, '198.51.100.1', ''],
])('%s', (_, trusted, remote, forwarded, address) => {
  expect(createClientAddress(trusted)(remote, forwarded)).toBe(address)
})

test('a long list is read from its end, so far and no further', () => {
  const address = createClientAddress(['10.0.0.0/8'])
  expect(address('10.0.0.1', `198.51.100.1, ${'10.0.0.2, '.repeat(100_000)}10.0.0.3`)).toBe('10.0.0.2')
})

test('a value that is not an address range is refused by name', () => {
  expect(() => createClientAddress(['nginx'])).toThrow(/"nginx" is not an address range/)
})

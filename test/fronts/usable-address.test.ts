import { expect, test } from 'vitest'
import { envToConfig } from '../../src/config/config.ts'
import { requireUsableAddress } from '../../src/fronts/ports.ts'
import { isWildcardHost } from '../../src/security/url-guard.ts'
import { startGateway } from '../support/gateway.ts'

test.each(['0.0.0.0', '0', '::', '[::]', '0:0:0:0:0:0:0:0', '::ffff:0.0.0.0'])(
  '%s is no address that clients use',
  (host) => {
    expect(isWildcardHost(host)).toBe(true)
    expect(() => requireUsableAddress({ http: { host, publicUrl: undefined } })).toThrow(/Set ROUSE_PUBLIC_URL/)
    requireUsableAddress({ http: { host, publicUrl: 'https://rouse.example' } })
  },
)

test.each(['127.0.0.1', '::1', '10.0.0.1', 'rouse.example', 'localhost', 'not a host'])('%s may be one', (host) => {
  expect(isWildcardHost(host)).toBe(false)
  requireUsableAddress({ http: { host, publicUrl: undefined } })
})

test.each([
  ['ROUSE_PUBLIC_URL', 'http://0.0.0.0:4520'],
  ['ROUSE_PUBLIC_URL', 'http://[::]:4520'],
  ['ROUSE_GRPC_PUBLIC_TARGET', '0.0.0.0:4521'],
  ['ROUSE_GRPC_PUBLIC_TARGET', '[::]:4521'],
])('an address that nobody can use is not configured either: %s=%s', (name, value) => {
  expect(() => envToConfig({ [name]: value })).toThrow(/that clients use/)
})

test('a gateway that listens everywhere starts only with the address that its cards shall advertise', async () => {
  const everywhere = { ROUSE_HOST: '0.0.0.0' }
  await expect(startGateway({ env: everywhere })).rejects.toThrow(/ROUSE_HOST=0\.0\.0\.0 .*Set ROUSE_PUBLIC_URL/)
  await using gateway = await startGateway({ env: { ...everywhere, ROUSE_PUBLIC_URL: 'https://rouse.example' } })
  await gateway.addAgent('donna', { access: 'public' })
  const card = await fetch(`${gateway.url.replace('0.0.0.0', '127.0.0.1')}/agents/donna/.well-known/agent-card.json`)
  expect(await card.text()).not.toContain('0.0.0.0')
})

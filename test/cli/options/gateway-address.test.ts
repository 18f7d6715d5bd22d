import { expect, test } from 'vitest'
import { gatewayUrl } from '../../../src/cli/options/gateway-address.ts'

test.each([
  [undefined, {}, 'http://127.0.0.1:4520'],
  [undefined, { ROUSE_URL: 'https://rouse.example/base/' }, 'https://rouse.example/base'],
  ['http://localhost:1/', { ROUSE_URL: 'https://rouse.example' }, 'http://localhost:1'],
])('the address for %s and %o is %s', (flag, env, url) => {
  expect(gatewayUrl(flag, env)).toBe(url)
})

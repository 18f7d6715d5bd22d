import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { gatewayKey, gatewayUrl } from '../../src/cli/gateway-address.ts'

const home = process.cwd()

beforeEach(() => {
  const dir = mkdtempSync(join(tmpdir(), 'rouse-cli-'))
  mkdirSync(join(dir, '.rouse'))
  writeFileSync(join(dir, '.rouse', 'admin.key'), 'rk_local\n')
  process.chdir(dir)
})
afterEach(() => process.chdir(home))

test.each([
  [undefined, {}, 'http://127.0.0.1:4520'],
  [undefined, { ROUSE_URL: 'https://rouse.example/base/' }, 'https://rouse.example/base'],
  ['http://localhost:1/', { ROUSE_URL: 'https://rouse.example' }, 'http://localhost:1'],
])('the address for %s and %o is %s', (flag, env, url) => {
  expect(gatewayUrl(flag, env)).toBe(url)
})

test('a key file that merely lies here is for this machine', () => {
  expect(gatewayKey(undefined, {}, 'http://127.0.0.1:4520')).toBe('rk_local')
  expect(gatewayKey(undefined, {}, 'http://[::1]:4520')).toBe('rk_local')
  expect(gatewayKey(undefined, {}, 'https://rouse.example')).toBeUndefined()
  expect(gatewayKey(undefined, {}, 'http://127.0.0.1.rouse.example')).toBeUndefined()
})

test('a data directory named on purpose is for any gateway', () => {
  expect(gatewayKey(undefined, { ROUSE_DATA_DIR: '.rouse' }, 'https://rouse.example')).toBe('rk_local')
})

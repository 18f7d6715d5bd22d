import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { localAddress, thisMachine } from '../../../src/bridge/local/address.ts'
import { contents, makeHome } from './homes.ts'

const plugin = '.config/opencode/plugins/rouse.js'

test('--bridge writes the plugin with the socket of the bridge, keeps it up to date, and uninstall removes it', async () => {
  using home = makeHome()
  home.write('.config/opencode/opencode.json', '{ "model": "m" }\n')
  const earlier = contents(home.path)
  const dry = await home.rouse('install', 'opencode', '--bridge', '--dry-run')
  expect(dry.stdout).toContain(`+++ ${home.at(plugin)}`)
  expect(contents(home.path)).toEqual(earlier)

  const install = await home.rouse('install', 'opencode', '--bridge')
  expect([install.code, install.stderr]).toEqual([0, ''])
  expect(install.stdout).toContain('10 to 40 s more')
  const { path } = localAddress(home.env, thisMachine())!
  expect(home.read(plugin)).toContain(`const address = ${JSON.stringify(path)}`)
  expect(home.read(plugin)).not.toMatch(/from ['"](?!node:)/)
  const written = home.read(plugin)
  expect((await home.rouse('install', 'opencode')).stdout).toContain('Nothing had to be changed.')
  expect(home.read(plugin)).toBe(written)
  expect((await home.rouse('doctor', 'opencode')).stdout).toContain(`${home.at(plugin)}: for rouse bridge`)

  expect(await home.rouse('uninstall', 'opencode')).toMatchObject({ code: 0, stderr: '' })
  expect(contents(home.path)).toEqual(earlier)
  expect(existsSync(home.at('.config/opencode/plugins'))).toBe(false)
})

test("a plugin of somebody else's under that name is refused, and nothing is written", async () => {
  using home = makeHome()
  home.write(plugin, 'export const Own = async () => ({})\n')
  const earlier = contents(home.path)
  const install = await home.rouse('install', 'opencode', '--bridge')
  expect(install.code).not.toBe(0)
  expect(install.stderr).toContain(`${home.at(plugin)}:1:1`)
  expect(contents(home.path)).toEqual(earlier)
})

test('a plugin that its user has changed stays, and is named', async () => {
  using home = makeHome()
  await home.rouse('install', 'opencode', '--bridge')
  home.write(plugin, `${home.read(plugin)}// mine\n`)
  const uninstall = await home.rouse('uninstall', 'opencode')
  expect(uninstall.stdout).toContain('was changed since')
  expect(readFileSync(home.at(plugin), 'utf8')).toContain('// mine')
})

test('--bridge is for harnesses that need something inside them, and for the user', async () => {
  using home = makeHome()
  expect((await home.rouse('install', 'cursor', '--bridge')).stderr).toContain('without --bridge')
  expect((await home.rouse('install', 'opencode', '--bridge', '--scope', 'project')).stderr).toContain(
    'without --bridge',
  )
  expect(contents(home.path)).toEqual({})
})

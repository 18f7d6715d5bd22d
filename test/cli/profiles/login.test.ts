import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { run } from '../terminal.ts'

const login = (gateway: TestGateway, home: string, key: string, ...more: string[]) =>
  run(['login', '--url', gateway.url, ...more], { HOME: home }, { stdin: () => `${key}\n` })

test('login checks the key, keeps it in a private file, and later commands use it', async () => {
  await using gateway = await startGateway()
  using home = dataDirectory()
  const donna = await gateway.addAgent('donna')
  const { code, stdout, stderr } = await login(gateway, home.path, donna.key)
  const path = join(home.path, '.config/rouse/profiles.json')
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toBe(`Logged in at ${gateway.url} as @donna. Commands use profile default from now on (in ${path}).\n`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700)
  const sent = await run(['mail', '@operator', 'Hello'], { HOME: home.path })
  expect(sent.code, sent.stderr).toBe(0)
  const refused = await run(['agent', 'add', 'mike'], { HOME: home.path })
  expect(refused.stderr).toContain(`The key of @donna was used, from profile default (${path}).`)
  const admin = await run(['agent', 'add', 'mike'], { HOME: home.path, ROUSE_KEY: gateway.adminKey })
  expect(admin.code, admin.stderr).toBe(0)
})

test('profiles are listed without keys, chosen and removed', async () => {
  await using gateway = await startGateway()
  using config = dataDirectory()
  const env = { XDG_CONFIG_HOME: config.path }
  const donna = await gateway.addAgent('donna')
  const keyFile = join(config.path, 'admin')
  writeFileSync(keyFile, gateway.adminKey, { mode: 0o600 })
  const first = ['login', '--url', gateway.url]
  expect((await run(first, env, { stdin: () => donna.key })).code).toBe(0)
  const second = await run([...first, '--profile', 'boss', '--key-file', keyFile, '--json'], env)
  expect(JSON.parse(second.stdout)).toMatchObject({ profile: 'boss', identity: '@operator', project: null })
  const { stdout } = await run(['profile', 'list'], env)
  expect(stdout).toMatch(/default +@donna +http/)
  expect(stdout).toMatch(/\* +boss +@operator +http/)
  expect(stdout).not.toContain('rk')
  expect((await run(['agent', 'add', 'mike', '--profile', 'default'], env)).code).toBe(1)
  expect((await run(['agent', 'add', 'mike'], { ...env, ROUSE_PROFILE: 'default' })).code).toBe(1)
  expect((await run(['agent', 'add', 'mike'], env)).code).toBe(0)
  expect((await run(['profile', 'use', 'default'], env)).stdout).toContain('@donna at http')
  expect((await run(['agent', 'add', 'lola'], env)).code).toBe(1)

  const out = await run(['logout'], env)
  expect(out.stdout).toContain('Profile default is removed. Its key stays valid')
  const list = JSON.parse((await run(['profile', 'list', '--json'], env)).stdout)
  expect(list.profiles).toMatchObject([{ name: 'boss', isCurrent: false }])
  expect(JSON.stringify(list)).not.toContain(gateway.adminKey)
  await run(['logout', '--profile', 'boss'], env)
  expect(existsSync(join(config.path, 'rouse/profiles.json'))).toBe(false)
  expect(await run(['logout'], env)).toMatchObject({ code: 2, stderr: expect.stringContaining('no profile "default"') })
})

test('a wrong key, an absent gateway and no key at all leave the profiles as they were', async () => {
  await using gateway = await startGateway()
  using home = dataDirectory()
  const donna = await gateway.addAgent('donna')
  await login(gateway, home.path, donna.key)
  const path = join(home.path, '.config/rouse/profiles.json')
  const before = readFileSync(path, 'utf8')
  const wrong = await login(gateway, home.path, 'rk_wrong')
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('API key is unknown')])
  expect((await login(gateway, home.path, '')).code).toBe(2)
  expect((await login(gateway, home.path, donna.key, '--profile', '../x')).code).toBe(2)
  expect((await login(gateway, home.path, donna.key, '--key', 'rk_1')).code).toBe(2)
  const gone = await run(['login', '--url', 'http://127.0.0.1:1'], { HOME: home.path }, { stdin: () => donna.key })
  expect(gone.code).toBe(3)
  expect(readFileSync(path, 'utf8')).toBe(before)
  const nowhere = await run(['login', '--url', gateway.url], {}, { stdin: () => donna.key })
  expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('set HOME or XDG_CONFIG_HOME') })
})

test('a terminal is prompted for the key, which is not shown', async () => {
  await using gateway = await startGateway()
  using home = dataDirectory()
  const donna = await gateway.addAgent('donna')
  const prompts: string[] = []
  const askSecret = async (prompt: string) => {
    prompts.push(prompt)
    return `${donna.key}\n`
  }
  const { code, stdout, stderr } = await run(['login', '--url', gateway.url], { HOME: home.path }, { askSecret })
  expect([code, prompts]).toEqual([0, ['Key: ']])
  expect(stdout + stderr).not.toContain(donna.key)
})

test('a file of profiles that others may read, or that is damaged, is not used', async () => {
  await using gateway = await startGateway()
  using home = dataDirectory()
  await login(gateway, home.path, gateway.adminKey)
  const path = join(home.path, '.config/rouse/profiles.json')
  chmodSync(path, 0o644)
  const open = await run(['who'], { HOME: home.path })
  expect(open).toMatchObject({ code: 1, stderr: expect.stringContaining(`chmod 600 ${path}`) })
  chmodSync(path, 0o600)
  for (const text of [
    '{',
    '[]',
    '{"profiles":{"a":{"url":1}}}',
    '{"profiles":{"a":{"url":"x","key":"k","identity":"@d"}}}',
  ]) {
    writeFileSync(path, text)
    const { code, stderr } = await run(['who'], { HOME: home.path })
    expect([code, stderr]).toEqual([2, expect.stringContaining(`${path} is damaged`)])
  }
})

test('whoami says whose key commands use, and where it comes from, never the key', async () => {
  await using gateway = await startGateway()
  using home = dataDirectory()
  const donna = await gateway.addAgent('donna')
  await login(gateway, home.path, donna.key)
  const { stdout } = await run(['whoami'], { HOME: home.path })
  expect(stdout).toMatch(
    /identity: +@donna\n[\s\S]*project: +default\nscopes: +read, send[\s\S]*key from: +profile default \(/,
  )
  expect(stdout).not.toContain(donna.key)
  const admin = await run(['whoami', '--json'], { ROUSE_URL: gateway.url, ROUSE_DATA_DIR: gateway.dataDir })
  expect(JSON.parse(admin.stdout)).toMatchObject({
    identity: '@operator',
    role: 'admin',
    gateway: gateway.url,
    keySource: join(gateway.dataDir, 'admin.key'),
  })
})

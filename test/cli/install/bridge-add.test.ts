import { chmodSync, mkdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseConfig } from '../../../src/bridge/config/read-config.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { problem, startStubGateway } from '../stub-gateway.ts'
import { start } from '../terminal.ts'
import { type Home, makeHome } from './homes.ts'

const config = '.config/rouse/bridge.json'
const profiles = '.config/rouse/profiles.json'

/** A configuration as a person has written it. `app`: the directory of donna. */
const written = (app: string) => `{
  // mine
  "agents": [
    { "profile": "donna", "harnesses": ["codex"], "directories": ["${app}"] }, // the first one
  ],
  "adapters": { "codex": { "steer": false } }, /* as it was */
}
`

/** A home of the operator of a gateway, with a bridge for donna, and directories. */
async function office(): Promise<{ home: Home; gateway: TestGateway; app: string; site: string } & AsyncDisposable> {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const home = makeHome({ ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey })
  const profile = { url: gateway.url, key: donna.key, identity: '@donna' }
  home.write(profiles, JSON.stringify({ current: 'donna', profiles: { donna: profile } }))
  const [app, site] = [home.at('app'), home.at('site')]
  for (const path of [app, site]) mkdirSync(path)
  home.write(config, written(app))
  const end = async () => {
    home[Symbol.dispose]()
    await gateway[Symbol.asyncDispose]()
  }
  return { home, gateway, app, site, [Symbol.asyncDispose]: end }
}

const profileOf = (home: Home, name: string) => JSON.parse(home.read(profiles)).profiles[name]

test('an agent that is not there is registered, gets a key and an entry, and a second run changes nothing', async () => {
  await using desk = await office()
  const { home, gateway, app, site } = desk
  const add = (...more: string[]) => home.rouse('bridge', 'add', '@Erik', 'claude', '--directory', site, ...more)

  const dry = await add('--dry-run')
  expect([dry.code, dry.stderr]).toEqual([0, 'It would register @erik, make a key for @erik, and the profile erik.\n'])
  expect(dry.stdout).toContain(`+++ ${home.at(config)}`)
  expect(dry.stdout).toMatch(/^\+ +"profile": "erik",$/m)
  expect(home.read(config)).toBe(written(app))
  expect((await gateway.call('GET', '/v1/agents/erik')).status).toBe(404)

  const first = await add()
  expect([first.code, first.stderr]).toEqual([0, ''])
  expect(first.stdout).toContain(`written    ${home.at(config)}  (agents[1]: @erik)`)
  expect(first.stdout).toContain('It is registered, and a key for it is in the new profile erik.')
  expect(first.stdout).toContain('No bridge runs. Start it: rouse bridge\n')
  expect(first.stdout).toContain(
    'Claude Code does not have the mail of @erik yet: rouse install claude --bridge --profile erik',
  )
  const text = home.read(config)
  const entry = `    {
      "profile": "erik",
      "harnesses": [
        "claude"
      ],
      "directories": [
        "${site}"
      ]
    },
`
  expect(text.replace(entry, '')).toBe(written(app))
  expect(text).toContain(entry)
  expect(statSync(home.at(config)).mode & 0o777).toBe(0o600)

  // Its profile has the one key that is left of it, which makes no others.
  const { keys } = (await gateway.call('GET', '/v1/agents/erik/keys')).body
  const valid = keys.filter(({ revokedAt }: { revokedAt: string | null }) => revokedAt === null)
  expect(valid).toMatchObject([{ scopes: ['read', 'send', 'work', 'manage'] }])
  const { key, ...profile } = profileOf(home, 'erik')
  expect(profile).toEqual({ url: gateway.url, identity: '@erik' })
  expect((await gateway.call('GET', '/v1/whoami', undefined, { key })).body.identity).toBe('@erik')
  expect(JSON.parse(home.read(profiles)).current).toBe('donna')

  const second = await add('--json')
  expect(JSON.parse(second.stdout)).toEqual({
    agent: '@erik',
    profile: 'erik',
    key: 'profile',
    files: [{ path: home.at(config), holds: 'agents[1]: @erik', action: 'unchanged' }],
    next: [
      'Nothing had to be changed.',
      'No bridge runs. Start it: rouse bridge',
      'Claude Code does not have the mail of @erik yet: rouse install claude --bridge --profile erik',
    ],
  })
  expect(await add('--dry-run')).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing would change.\n' })
  expect(home.read(config)).toBe(text)
  const status = JSON.parse((await home.rouse('bridge', 'status', '--json')).stdout)
  expect(status.agents).toMatchObject([
    { agent: '@donna' },
    { agent: '@erik', harnesses: ['claude'], directories: [site] },
  ])
})

test('an agent of the gateway gets another key, one with a profile none, and its own key is kept', async () => {
  await using desk = await office()
  const { home, gateway, site } = desk
  await gateway.addAgent('erik', { aliases: ['rik'] })
  await gateway.addAgent('mike')
  const scopes = ['read', 'send', 'work', 'manage']
  const key = (await gateway.call('POST', '/v1/agents/mike/keys', { scopes })).body.apiKey
  const add = async (env: Record<string, string>, ...words: string[]) => {
    Object.assign(home.env, env)
    const { code, stdout, stderr } = await home.rouse('bridge', 'add', ...words, '--directory', site, '--json')
    expect([code, stderr]).toEqual([0, ''])
    return JSON.parse(stdout)
  }
  expect(await add({}, 'rik', 'claude')).toMatchObject({ agent: '@erik', profile: 'erik', key: 'new-key' })
  expect(await add({}, '@rik', 'claude')).toMatchObject({ profile: 'erik', key: 'profile' })
  expect(await add({ ROUSE_KEY: key }, '@mike', 'opencode')).toMatchObject({ profile: 'mike', key: 'caller' })
  expect(profileOf(home, 'mike')).toEqual({ url: gateway.url, key, identity: '@mike' })
  expect((await gateway.call('GET', '/v1/agents/mike/keys')).body.keys).toHaveLength(2)
})

test('an own key that makes others makes one for the bridge, and one that expires is refused', async () => {
  await using desk = await office()
  const { home, gateway, app, site } = desk
  const { key } = await gateway.addAgent('erik')
  const terms = { scopes: ['read', 'send', 'work', 'manage', 'mint'], expiresInSeconds: 3_600 }
  const ends = (await gateway.call('POST', '/v1/agents/erik/keys', terms)).body.apiKey
  const add = (own: string) => {
    Object.assign(home.env, { ROUSE_KEY: own })
    return home.rouse('bridge', 'add', '@erik', 'claude', '--directory', site, '--json')
  }
  const refused = await add(ends)
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringMatching(/The key of @erik expires at \d{4}-/)])
  expect(home.read(config)).toBe(written(app))
  expect(JSON.parse((await add(key)).stdout)).toMatchObject({ profile: 'erik', key: 'new-key' })
  const kept = profileOf(home, 'erik').key
  const { body } = await gateway.call('GET', '/v1/whoami', undefined, { key: kept })
  expect(body.scopes).toEqual(['read', 'send', 'work', 'manage'])
  expect(body.expiresAt).toBeUndefined()
})

test('a profile of another gateway or project is not taken for an agent of the same handle, unless it is named', async () => {
  await using desk = await office()
  const { home, gateway, app, site } = desk
  await gateway.addAgent('erik', { aliases: ['rik'] })
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  const donna = profileOf(home, 'donna')
  const there = { url: 'http://127.0.0.1:9', key: 'rk_other', identity: '@erik' }
  const write = (all: object) => home.write(profiles, JSON.stringify({ profiles: { donna, ...all } }))
  const add = (...words: string[]) => home.rouse('bridge', 'add', ...words, '--directory', site, '--json')
  write({ erik: there })
  for (const handle of ['@erik', 'rik']) {
    const { code, stderr } = await add(handle, 'claude')
    expect([code, stderr]).toEqual([2, expect.stringContaining('a profile erik of @erik at http://127.0.0.1:9')])
  }
  expect(home.read(config)).toBe(written(app))

  write({ elsewhere: there })
  const found = JSON.parse((await add('rik', 'claude')).stdout)
  expect(found).toMatchObject({ profile: 'erik', key: 'new-key' })
  expect(profileOf(home, 'erik').url).toBe(gateway.url)
  const here = profileOf(home, 'erik')
  const named = JSON.parse((await add('@erik', 'claude', '--profile', 'elsewhere')).stdout)
  expect(named).toMatchObject({ profile: 'elsewhere', key: 'profile' })

  write({ elsewhere: there, here })
  home.write(config, written(app))
  const web = JSON.parse((await add('@erik', 'claude', '--project', 'web')).stdout)
  expect(web).toMatchObject({ profile: 'erik', key: 'new-agent' })
  expect(profileOf(home, 'erik')).toMatchObject({ url: gateway.url, project: 'web' })
})

test('if the profile cannot be kept, no key that was made for it stays valid', async () => {
  await using desk = await office()
  const { home, gateway, app, site } = desk
  const donna = profileOf(home, 'donna')
  const all = Array.from({ length: 1_000 }, (_, index) => [index === 0 ? 'donna' : `p${index}`, donna])
  home.write(profiles, JSON.stringify({ profiles: Object.fromEntries(all) }))
  // The second time it is registered already.
  for (const _ of [1, 2]) {
    const { code, stderr } = await home.rouse('bridge', 'add', '@erik', 'claude', '--directory', site)
    expect([code, stderr]).toEqual([2, expect.stringContaining('There are 1000 profiles')])
    const { keys } = (await gateway.call('GET', '/v1/agents/erik/keys')).body
    expect(keys.filter(({ revokedAt }: { revokedAt: string | null }) => revokedAt === null)).toEqual([])
  }
  expect(home.read(config)).toBe(written(app))
})

test('if no other key can be made, the first one of an agent is revoked', async () => {
  await using desk = await office()
  const { home, site } = desk
  const made = { agent: { handle: '@erik' }, keyId: 'k1', apiKey: 'rk_first' } as never
  await using stub = await startStubGateway({
    'GET /v1/agents/:handle': problem(404, 'agent-not-found', 'No such agent'),
    'POST /v1/agents': { status: 201, json: made },
    'POST /v1/agents/:handle/keys': problem(409, 'limit-reached', 'Too many keys'),
    'DELETE /v1/agents/:handle/keys/:keyId': { json: undefined as never, status: 204 },
  })
  Object.assign(home.env, { ROUSE_URL: stub.url })
  const { code, stderr } = await home.rouse('bridge', 'add', '@erik', 'claude', '--directory', site)
  expect([code, stderr]).toEqual([1, expect.stringContaining('Too many keys')])
  expect(stub.last()).toMatchObject({ method: 'DELETE', path: '/v1/agents/erik/keys/k1' })
})

test('the entry of an agent gets what it does not have, and keeps its comments', async () => {
  await using desk = await office()
  const { home, app, site } = desk
  mkdirSync(join(app, 'deep'))
  // Nothing asks the gateway, which would refuse the key: the profile is there.
  Object.assign(home.env, { ROUSE_KEY: 'rk_wrong' })
  const below = await home.rouse('bridge', 'add', 'donna', '--directory', join(app, 'deep'))
  expect(below.stdout).toContain('Nothing had to be changed.')
  const more = await home.rouse('bridge', 'add', 'donna', 'codex', 'claude', '--directory', site, '--directory', app)
  expect([more.code, more.stderr]).toEqual([0, ''])
  expect(home.read(config)).toBe(
    written(app).replace('["codex"]', '["codex","claude"]').replace(`["${app}"]`, `["${app}","${site}"]`),
  )
})

test('without a harness it takes those in which rouse install has named the profile', async () => {
  await using desk = await office()
  const { home, gateway, site } = desk
  await gateway.addAgent('erik')
  await home.rouse('install', 'claude', '--bridge', '--agent', '@erik')
  const none = await home.rouse('bridge', 'add', '@mike', '--directory', site)
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining('[harness...]: Name the harness')])
  const { stdout } = await home.rouse('bridge', 'add', '@erik', '--directory', site)
  expect(stdout).toContain('Its profile is erik.')
  expect(stdout).not.toContain('does not have the mail')
  expect(home.read(config)).toContain('"claude"')
})

test('without a configuration it writes the first one', async () => {
  await using desk = await office()
  const { home, app } = desk
  const other = home.at('new', 'other.json')
  const { code, stdout, stderr } = await home.rouse(
    'bridge',
    'add',
    'donna',
    'codex',
    '--directory',
    app,
    '--config',
    other,
  )
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain(`Start it: rouse bridge --config ${other}`)
  expect(JSON.parse(home.read('new/other.json'))).toEqual({
    agents: [{ profile: 'donna', harnesses: ['codex'], directories: [app] }],
  })
  expect(statSync(other).mode & 0o777).toBe(0o600)
})

test('it says whether the bridge that runs has the agent', async () => {
  await using desk = await office()
  const { home, site } = desk
  const bridge = start(['bridge'], home.env)
  await bridge.until(/@donna: connected/)
  const add = async () => (await home.rouse('bridge', 'add', '@erik', 'claude', '--directory', site)).stdout
  expect(await add()).toMatch(
    /The bridge that runs \(process \d+\) does not have it.*Ctrl-C where it runs, then rouse bridge/,
  )
  bridge.interrupt()
  await bridge.code
  const again = start(['bridge'], home.env)
  await again.until(/@erik: connected/)
  expect(await add()).toContain('Nothing had to be changed.\nThe bridge that runs has it already.\n')
  again.interrupt()
  await again.code
})

test.each<[what: string, words: string[], message: RegExp]>([
  ['a handle that is none', ['../erik', 'claude'], /<handle>: "\.\.\/erik" is not a handle\. Write donna or @donna\./],
  ['an option in its place', ['--', '--dry-run', 'claude'], /<handle>: "--dry-run" is not a handle/],
  ['a harness that is none', ['@erik', 'cloude'], /'cloude' is invalid.*claude/],
  ['a directory that is not there', ['@erik', 'claude', '--directory', '/nowhere'], /--directory: \/nowhere cannot be/],
  ['a directory that is everything', ['@erik', 'claude', '--directory', '/'], /--directory: \/ is everything/],
  ['a profile of another agent', ['@erik', 'claude', '--profile', 'donna'], /Profile donna is of @donna, not of @erik/],
  ['a profile that is not there', ['@erik', 'claude', '--profile', 'erik'], /There is no profile "erik"/],
  ['JSON of a diff', ['@erik', 'claude', '--dry-run', '--json'], /--dry-run prints a diff: without --json/],
])('%s is refused, and nothing is changed', async (_what, words, message) => {
  await using desk = await office()
  const { home, app } = desk
  const { code, stdout, stderr } = await home.rouse('bridge', 'add', ...words)
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringMatching(message)])
  expect(home.read(config)).toBe(written(app))
  expect(Object.keys(JSON.parse(home.read(profiles)).profiles)).toEqual(['donna'])
})

test('a handle that the gateway gives is checked as one that a person gives', async () => {
  await using desk = await office()
  const { home, app, site } = desk
  const agent = { handle: '@-x$(touch y)' } as never
  await using hostile = await startStubGateway({ 'GET /v1/agents/:handle': { json: agent } })
  Object.assign(home.env, { ROUSE_URL: hostile.url })
  const { code, stderr } = await home.rouse('bridge', 'add', '@erik', 'claude', '--directory', site)
  expect([code, stderr]).toEqual([2, expect.stringContaining('<handle>: "@-x$(touch y)" is not a handle.')])
  expect(home.read(config)).toBe(written(app))
})

test('a configuration that is wrong, read-only or open to others is named and stays', async () => {
  await using desk = await office()
  const { home, gateway, site } = desk
  const add = () => home.rouse('bridge', 'add', '@erik', 'claude', '--directory', site)
  const wrong = written(site).replace('"codex"', '"codeks"')
  home.write(config, wrong)
  expect(await add()).toMatchObject({ code: 2, stderr: expect.stringContaining('agents[0].harnesses[0]') })
  home.write(config, '{ "agents" }')
  expect(await add()).toMatchObject({ code: 2, stderr: expect.stringMatching(/bridge\.json:1:\d+: /) })
  home.write(config, written(site))
  chmodSync(home.at(config), 0o400)
  expect(await add()).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod u+w') })
  chmodSync(home.at(config), 0o666)
  expect(await add()).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod go-w') })
  expect((await gateway.call('GET', '/v1/agents/erik')).status).toBe(404)
})

test('a configuration that the bridge would refuse is refused before the agent is registered', async () => {
  await using desk = await office()
  const { home, gateway, app, site } = desk
  const add = (...words: string[]) => home.rouse('bridge', 'add', '@erik', 'claude', '--directory', site, ...words)
  const open = home.at('open')
  mkdirSync(open)
  chmodSync(open, 0o777)
  const many = Array.from({ length: 100 }, (_, index) => home.at('site', String(index)))
  for (const directory of many) mkdirSync(directory)
  const cases: [words: string[], message: string][] = [
    [['--config', open], 'is no file'],
    [['--config', home.at(config, 'new.json')], 'new.json cannot be'],
    [['--config', join(open, 'bridge.json')], `chmod go-w ${open}`],
    [many.flatMap((one) => ['--directory', one]), 'agents[1].directories'],
  ]
  for (const [words, message] of cases) {
    const dry = await add(...words, '--dry-run')
    expect([dry.code, dry.stdout, dry.stderr]).toEqual([2, '', expect.stringContaining(message)])
    const { code, stderr } = await add(...words)
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)])
  }
  expect((await gateway.call('GET', '/v1/agents/erik')).status).toBe(404)
  expect(home.read(config)).toBe(written(app))
})

test('where nothing can be written, the agent is not registered', async ({ skip }) => {
  if (process.getuid?.() === 0) return skip('Root may write everywhere.')
  await using desk = await office()
  const { home, gateway, site } = desk
  const closed = home.at('closed')
  mkdirSync(closed)
  chmodSync(closed, 0o500)
  const path = join(closed, 'new', 'bridge.json')
  const { code, stderr } = await home.rouse('bridge', 'add', '@erik', 'claude', '--directory', site, '--config', path)
  expect([code, stderr]).toEqual([2, expect.stringContaining('cannot be written (EACCES)')])
  expect((await gateway.call('GET', '/v1/agents/erik')).status).toBe(404)
})

test('a link to a configuration stays a link', async () => {
  await using desk = await office()
  const { home, app, site } = desk
  const file = home.write('dotfiles/bridge.json', written(app))
  const link = home.at('link.json')
  symlinkSync(file, link)
  await home.rouse('bridge', 'add', '@erik', 'claude', '--directory', site, '--config', link)
  expect(home.read('dotfiles/bridge.json')).toContain('"erik"')
})

test('an agent that the key may not register or give a key is refused, and the file stays', async () => {
  await using desk = await office()
  const { home, gateway, app, site } = desk
  const { key } = await gateway.addAgent('mike')
  Object.assign(home.env, { ROUSE_KEY: key })
  const words = ['claude', '--directory', site]
  expect((await home.rouse('bridge', 'add', '@erik', ...words)).stderr).toContain(
    'Only the operator may register agents',
  )
  expect((await home.rouse('bridge', 'add', '@gateway', ...words)).code).toBe(1)
  await gateway.addAgent('erik')
  expect((await home.rouse('bridge', 'add', '@erik', ...words)).code).toBe(1)
  expect(home.read(config)).toBe(written(app))
})

test('--approvals is added to an entry that is there, and to a new one; Claude Code has it by its hooks', async () => {
  await using desk = await office()
  const { home, app, site } = desk
  const agents = () => (parseConfig(home.read(config), config) as { agents: object[] }).agents
  expect(await home.rouse('bridge', 'add', 'donna', '--directory', app)).toMatchObject({ code: 0 })
  expect(home.read(config)).toBe(written(app))
  expect(await home.rouse('bridge', 'add', 'donna', '--directory', app, '--approvals')).toMatchObject({ code: 0 })
  expect(agents()[0]).toMatchObject({ profile: 'donna', harnesses: ['codex'], approvals: true })
  const changed = home.read(config)
  expect(changed).toContain('// the first one')
  await home.rouse('bridge', 'add', 'donna', '--directory', app, '--approvals')
  expect(home.read(config)).toBe(changed)
  const added = await home.rouse('bridge', 'add', 'erik', 'claude', '--directory', site, '--approvals')
  expect(added.stdout).toContain('rouse install claude --approvals --profile erik')
  expect(agents()[1]).toMatchObject({ profile: 'erik', approvals: true })
})

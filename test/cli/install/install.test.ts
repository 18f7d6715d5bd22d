import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readConfigFile, replaceFile } from '../../../src/config-files/config-file.ts'
import { harnessIds } from '../../../src/harnesses/harnesses.ts'
import { startGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { contents, makeHome, snapshot } from './homes.ts'

const codexToml = `# my settings
model = "gpt-5"   # the good one

[mcp_servers.other]
command = "other"

[projects."/srv"]
trust_level = "trusted"`

/** Files that users have, and the harness that they are for. */
const files: [what: string, harness: string, name: string, text: string][] = [
  ['comments and a table of another server, no final line end', 'codex', '.codex/config.toml', codexToml],
  ['CRLF', 'codex', '.codex/config.toml', `${codexToml}\n`.replaceAll('\n', '\r\n')],
  ['an empty file', 'codex', '.codex/config.toml', ''],
  ['a byte order mark', 'codex', '.codex/config.toml', '\ufeffmodel = "x"\n'],
  [
    'hooks of others',
    'codex',
    '.codex/hooks.json',
    '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}',
  ],
  [
    'other servers',
    'claude',
    '.claude.json',
    '{\n  "numStartups": 4,\n  "mcpServers": {\n    "a": { "command": "a" }\n  }\n}\n',
  ],
  ['tabs', 'claude', '.claude/settings.json', '{\n\t"model": "opus",\n\t"hooks": {\n\t\t"Stop": []\n\t}\n}'],
  ['CRLF', 'claude', '.claude/settings.json', '{\r\n  "permissions": { "allow": ["Bash(ls)"] }\r\n}\r\n'],
  ['an empty file', 'claude', '.claude/settings.json', ''],
  ['white space only', 'claude', '.claude/settings.json', ' \n\n'],
  ['an empty object', 'claude', '.claude.json', '{}'],
  [
    'comments and trailing commas',
    'opencode',
    '.config/opencode/opencode.jsonc',
    '{\n  // mine\n  "mcp": {\n    "a": {}, // a\n  },\n}\n',
  ],
  ['a byte order mark', 'opencode', '.config/opencode/opencode.json', '\ufeff{ "model": "m" }\n'],
  ['all in one line', 'gemini', '.gemini/settings.json', '{"mcpServers":{"a":{"command":"a"}},"theme":"x"}'],
  ['four spaces', 'qwen', '.qwen/settings.json', '{\n    "theme": "x" // dark\n}\n'],
  ['its version', 'cursor', '.cursor/hooks.json', '{ "version": 1, "hooks": {} }\n'],
  ['other servers', 'copilot', '.copilot/mcp-config.json', '{\n  "mcpServers": {}\n}\n'],
]

test.each(files)('with %s, %s keeps every byte of %s', async (_what, harness, name, text) => {
  using home = makeHome()
  home.write(name, text)
  const before = snapshot(home.path)
  const earlier = contents(home.path)

  const dry = await home.rouse('install', harness, '--dry-run')
  expect([dry.code, dry.stderr]).toEqual([0, ''])
  expect(dry.stdout).toContain(`+++ ${home.at(name)}`)
  expect(snapshot(home.path)).toEqual(before)

  const first = await home.rouse('install', harness, '--approve-tools')
  expect([first.code, first.stderr]).toEqual([0, ''])
  const installed = snapshot(home.path)
  expect(home.read(name)).not.toBe(text)
  expect(statSync(home.at(name)).mode).toBe((before[name] as { mode: number }).mode)
  expect(readFileSync(`${home.at(name)}.rouse-backup`, 'utf8')).toBe(text)

  const second = await home.rouse('install', harness)
  expect(second.stdout).toContain('Nothing had to be changed.')
  expect(snapshot(home.path)).toEqual(installed)

  expect(await home.rouse('uninstall', harness)).toMatchObject({ code: 0, stderr: '' })
  expect(contents(home.path)).toEqual(earlier)
})

test.each(harnessIds)('%s: files and directories that were made go again', async (harness) => {
  using home = makeHome()
  expect(await home.rouse('install', harness)).toMatchObject({ code: 0 })
  expect(Object.keys(contents(home.path)).length).toBeGreaterThan(0)
  const written = Object.values(contents(home.path)).join('\n')
  expect(written).toContain('--profile')
  expect(written).not.toContain('rk_secret')
  expect(await home.rouse('uninstall', harness)).toMatchObject({ code: 0 })
  expect(contents(home.path)).toEqual({})
})

test('the entry of Claude Code has a profile, and nothing that another key or version would change: its tasks are kept', async () => {
  using home = makeHome()
  await home.rouse('install', 'claude')
  const { rouse } = JSON.parse(home.read('.claude.json')).mcpServers
  expect(Object.keys(rouse).sort()).toEqual(['args', 'command', 'type'])
  expect(rouse.args.slice(-3)).toEqual(['mcp', '--profile', 'donna'])
})

test.each(harnessIds)('%s: a link to a file stays a link, and its file keeps its mode', async (harness) => {
  using home = makeHome()
  await home.rouse('install', harness)
  const [name] = Object.keys(contents(home.path)).filter((one) => /\.(json|toml)$/.test(one))
  await home.rouse('uninstall', harness)
  const text = name!.endsWith('toml') ? '# dotfiles\n' : '{}\n'
  const file = home.write('dotfiles/file', text)
  chmodSync(file, 0o640)
  mkdirSync(home.at(name!, '..'), { recursive: true })
  symlinkSync(file, home.at(name!))
  expect(await home.rouse('install', harness)).toMatchObject({ code: 0 })
  expect(readFileSync(file, 'utf8')).not.toBe(text)
  expect([lstatSync(home.at(name!)).isSymbolicLink(), statSync(file).mode & 0o777]).toEqual([true, 0o640])
  await home.rouse('uninstall', harness)
  expect(readFileSync(file, 'utf8')).toBe(text)
})

test.each([
  [
    'invalid JSON',
    'claude',
    '.claude/settings.json',
    '{\n  "a": 1,\n  "b" 2\n}\n',
    /settings\.json:3:7: colon expected/,
  ],
  ['invalid TOML', 'codex', '.codex/config.toml', 'a = 1\nb =\n', /config\.toml:2:\d+: /],
  ['a list', 'claude', '.claude/settings.json', '[]', /settings\.json:1:1: the file is no JSON object/],
  ['a list of servers', 'claude', '.claude.json', '{"mcpServers": []}', /\.claude\.json:1:16: mcpServers is no object/],
  [
    'an own server of the name',
    'claude',
    '.claude.json',
    '{\n  "mcpServers": { "rouse": {} }\n}',
    /\.claude\.json:2:\d+: mcpServers\.rouse is there already/,
  ],
  [
    'an own table of the name',
    'codex',
    '.codex/config.toml',
    'x = 1\n[mcp_servers.rouse]\ncommand = "x"\n',
    /config\.toml:2:1: mcp_servers\.rouse is there already/,
  ],
  [
    'an own inline table',
    'codex',
    '.codex/config.toml',
    'mcp_servers = { a = { command = "x" } }\n',
    /write \[mcp_servers\.rouse\] yourself/,
  ],
  [
    'a name that is there twice',
    'claude',
    '.claude.json',
    '{"mcpServers": {}, "mcpServers": {}}',
    /"mcpServers" is there twice/,
  ],
  ['bytes that are no UTF-8', 'claude', '.claude.json', Buffer.from([0x7b, 0xff, 0x7d]), /is not UTF-8/],
])('%s is refused, and nothing is changed', async (_what, harness, name, text, message) => {
  using home = makeHome()
  home.write(name, text as string)
  const before = snapshot(home.path)
  for (const flag of [[], ['--dry-run']]) {
    const { code, stderr } = await home.rouse('install', harness, ...flag)
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)])
  }
  expect(snapshot(home.path)).toEqual(before)
})

test('a backup has the mode of its file: it may hold secrets', async () => {
  using home = makeHome()
  chmodSync(home.write('.claude.json', '{"oauth":"secret"}'), 0o600)
  await home.rouse('install', 'claude')
  expect(statSync(home.at('.claude.json.rouse-backup')).mode & 0o777).toBe(0o600)
  expect(statSync(home.at('.claude.json')).mode & 0o777).toBe(0o600)
})

test('a file that another program has written meanwhile is left to it', async () => {
  using home = makeHome()
  const path = home.write('.claude.json', '{}')
  const file = readConfigFile(path)
  home.write('.claude.json', '{"numStartups":2}')
  expect(() => replaceFile(file, '{"mcpServers":{}}')).toThrow('was changed by another program just now')
  expect(contents(home.path)).toEqual({ '.claude.json': '{"numStartups":2}' })
})

test('a read-only file is refused with the command that makes it writable', async () => {
  using home = makeHome()
  chmodSync(home.write('.codex/config.toml', 'model = "x"\n'), 0o444)
  const before = snapshot(home.path)
  const { code, stderr } = await home.rouse('install', 'codex')
  expect([code, stderr]).toEqual([2, expect.stringContaining(`chmod u+w ${home.at('.codex/config.toml')}`)])
  expect(snapshot(home.path)).toEqual(before)
})

test('a link to nothing is refused', async () => {
  using home = makeHome()
  symlinkSync(home.at('nowhere'), home.at('.claude.json'))
  const { code, stderr } = await home.rouse('install', 'claude')
  expect([code, stderr]).toEqual([2, expect.stringContaining('a symbolic link to a file that is not there')])
})

test('what others write beside it stays when it is uninstalled', async () => {
  using home = makeHome()
  home.write('.claude.json', '{"numStartups":1}')
  await home.rouse('install', 'claude')
  // Claude Code writes the file anew, and the user adds a server and a hook.
  const state = JSON.parse(home.read('.claude.json'))
  state.mcpServers.mine = { command: 'mine' }
  home.write('.claude.json', JSON.stringify({ ...state, numStartups: 2 }, null, 2))
  const settings = JSON.parse(home.read('.claude/settings.json'))
  settings.hooks.Stop.push({ hooks: [{ type: 'command', command: 'mine' }] })
  home.write('.claude/settings.json', JSON.stringify(settings))
  const { code, stdout } = await home.rouse('uninstall', 'claude')
  expect(code).toBe(0)
  expect(JSON.parse(home.read('.claude.json'))).toEqual({ numStartups: 2, mcpServers: { mine: { command: 'mine' } } })
  expect(JSON.parse(home.read('.claude/settings.json'))).toEqual({
    hooks: { Stop: [{ hooks: [{ type: 'command', command: 'mine' }] }] },
  })
  expect(stdout).toContain('backup:')
})

test('a file that was made, and that others use by now, keeps its version', async () => {
  using home = makeHome()
  await home.rouse('install', 'cursor')
  const file = JSON.parse(home.read('.cursor/hooks.json'))
  file.hooks.stop.push({ command: 'mine' })
  home.write('.cursor/hooks.json', JSON.stringify(file, null, 2))
  await home.rouse('uninstall', 'cursor')
  expect(JSON.parse(home.read('.cursor/hooks.json'))).toEqual({ version: 1, hooks: { stop: [{ command: 'mine' }] } })
})

test('an entry that the user has changed is named, and left', async () => {
  using home = makeHome()
  await home.rouse('install', 'codex')
  home.write('.codex/config.toml', `${home.read('.codex/config.toml')}enabled = false\n`)
  const before = home.read('.codex/config.toml')
  const { code, stdout } = await home.rouse('uninstall', 'codex')
  expect(code).toBe(0)
  expect(stdout).toContain('mcp_servers.rouse was changed since: it stays')
  expect(home.read('.codex/config.toml')).toBe(before)
  expect(existsSync(home.at('.codex/hooks.json'))).toBe(false)
})

test('Codex gives the hook of SessionEnd three seconds, and the others more', async () => {
  using home = makeHome()
  await home.rouse('install', 'codex')
  const { hooks } = JSON.parse(home.read('.codex/hooks.json'))
  expect(hooks.SessionEnd[0].hooks[0].timeout).toBe(3)
  expect(hooks.Stop[0].hooks[0].timeout).toBe(10)
})

test('another profile replaces the entries, and a permission that was given stays', async () => {
  using home = makeHome()
  home.write('.codex/config.toml', codexToml)
  await home.rouse('install', 'codex', '--approve-tools')
  const profiles = JSON.parse(home.read('.config/rouse/profiles.json'))
  profiles.profiles.erik = { url: 'http://127.0.0.1:9', key: 'rk_other', identity: '@erik' }
  home.write('.config/rouse/profiles.json', JSON.stringify(profiles))
  expect(await home.rouse('install', 'codex', '--agent', '@erik')).toMatchObject({ code: 0 })
  const toml = home.read('.codex/config.toml')
  expect(toml.match(/--profile", "(\w+)"/)?.[1]).toBe('erik')
  expect(toml).toContain('default_tools_approval_mode = "approve"')
  expect(toml.match(/\[mcp_servers\.rouse\]/g)).toHaveLength(1)
  await home.rouse('install', 'codex', '--no-approve-tools')
  expect(home.read('.codex/config.toml')).not.toContain('default_tools_approval_mode')
  await home.rouse('uninstall', 'codex')
  expect(home.read('.codex/config.toml')).toBe(codexToml)
})

// D12
test('where another harness has the same agent, it says that only one of them speaks for it', async () => {
  using home = makeHome()
  expect((await home.rouse('install', 'claude')).stdout).not.toContain('speak for')
  expect((await home.rouse('install', 'opencode')).stdout).toMatch(/^Claude Code can speak for @\w+ too.*--agent/m)
})

test('the directories of a harness are those that its variables name', async () => {
  using home = makeHome({ CODEX_HOME: '', CLAUDE_CONFIG_DIR: '' })
  const env = { CODEX_HOME: home.at('cx'), CLAUDE_CONFIG_DIR: home.at('cl'), XDG_CONFIG_HOME: home.at('.config') }
  Object.assign(home.env, env)
  for (const harness of ['codex', 'claude', 'opencode']) await home.rouse('install', harness)
  expect(Object.keys(contents(home.path)).filter((name) => /\.(json|toml)$/.test(name))).toEqual([
    '.config/opencode/opencode.json',
    'cl/.claude.json',
    'cl/settings.json',
    'cx/config.toml',
    'cx/hooks.json',
  ])
  expect(home.read('.config/opencode/opencode.json')).toContain('"type": "local"')
  // Codex passes a short list of variables on: the one that leads to the profile is in its file.
  expect(home.read('cx/config.toml')).toContain(`XDG_CONFIG_HOME = "${home.at('.config')}"`)
})

test('with --http the file has the address, and the name of the variable with the key', async () => {
  using home = makeHome()
  await home.rouse('install', 'codex', '--http')
  expect(home.read('.codex/config.toml')).toContain(
    'url = "http://127.0.0.1:9/mcp"\nbearer_token_env_var = "ROUSE_KEY"',
  )
  expect(await home.rouse('install', 'copilot', '--http')).toMatchObject({ code: 2 })
})

test('without a profile it says how to make one, and without a name it lists the harnesses', async () => {
  using home = makeHome()
  home.write('.config/rouse/profiles.json', '{"profiles":{}}')
  const { code, stderr } = await home.rouse('install', 'codex')
  expect([code, stderr]).toEqual([2, expect.stringContaining('rouse login --profile donna')])
  home.write('.codex/config.toml', '')
  const { stdout } = await home.rouse('install')
  expect(stdout).toMatch(/codex\s+Codex\s+yes\s+no/)
  expect(stdout).toMatch(/gemini\s+Gemini CLI\s+no\s+no/)
  expect(await home.rouse('install', 'codx')).toMatchObject({ code: 2, stderr: expect.stringContaining('codex?') })
})

test('for an agent without a profile it makes a key and a profile, with the operator’s key', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('@erik')
  using home = makeHome()
  home.write('.config/rouse/admin.key', gateway.adminKey)
  const argv = [
    'install',
    'codex',
    '--agent',
    '@erik',
    '--url',
    gateway.url,
    '--key-file',
    home.at('.config/rouse/admin.key'),
  ]
  const dry = await home.rouse(...argv, '--dry-run')
  expect([dry.code, dry.stderr]).toEqual([0, expect.stringContaining('It would make a key for @erik')])
  expect(home.read('.config/rouse/profiles.json')).not.toContain('erik')

  expect(await home.rouse(...argv)).toMatchObject({ code: 0, stdout: expect.stringContaining('It speaks for @erik') })
  const { current, profiles } = JSON.parse(home.read('.config/rouse/profiles.json'))
  expect([current, profiles.erik.url, profiles.erik.identity]).toEqual(['donna', gateway.url, '@erik'])
  const whoami = await gateway.call('GET', '/v1/whoami', undefined, { key: profiles.erik.key })
  expect(whoami.body).toMatchObject({ identity: '@erik', scopes: ['read', 'send', 'work', 'manage'] })
  expect(Object.values(contents(home.path)).join()).not.toContain(profiles.erik.key)

  const removed = await home.rouse('uninstall', 'codex')
  expect(removed.stdout).toMatch(/The profile erik stays, and its key is still valid\. .*rouse agent key list @erik/)
  await home.rouse(...argv)
  await home.rouse('install', 'qwen', ...argv.slice(2))
  expect((await home.rouse('uninstall', 'qwen')).stdout, 'codex has it too').not.toContain('stays')

  const ofNobody = argv.map((word) => (word === '@erik' ? '@nobody' : word))
  for (const flags of [['--dry-run'], []]) {
    const { code, stderr } = await home.rouse(...ofNobody, ...flags)
    expect([code, stderr]).toEqual([1, expect.stringContaining('No such agent')])
  }
  expect(home.read('.codex/config.toml')).not.toContain('nobody')
})

test('a profile of another gateway is not taken for an agent of the same handle, unless it is named', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('erik')
  using home = makeHome()
  home.write('.config/rouse/admin.key', gateway.adminKey)
  const there = { url: 'http://127.0.0.1:9', key: 'rk_other', identity: '@erik' }
  const write = (name: string) =>
    home.write('.config/rouse/profiles.json', JSON.stringify({ profiles: { [name]: there } }))
  const argv = ['install', 'codex', '--agent', '@erik', '--url', gateway.url]
  const key = ['--key-file', home.at('.config/rouse/admin.key')]
  write('erik')
  const taken = await home.rouse(...argv, ...key)
  expect([taken.code, taken.stderr]).toEqual([
    2,
    expect.stringContaining('a profile erik of @erik at http://127.0.0.1:9'),
  ])
  write('elsewhere')
  expect(await home.rouse(...argv, ...key)).toMatchObject({ code: 0 })
  expect(home.read('.codex/config.toml')).toContain('"--profile", "erik"')
  expect(JSON.parse(home.read('.config/rouse/profiles.json')).profiles.erik.url).toBe(gateway.url)
  expect(await home.rouse('install', 'codex', '--profile', 'elsewhere')).toMatchObject({ code: 0 })
  expect(home.read('.codex/config.toml')).toContain('"--profile", "elsewhere"')
})

test('the profile that it makes is not the one in use: later commands are still the operator’s', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('erik')
  using home = makeHome()
  home.write('.config/rouse/profiles.json', '{"profiles": {}}')
  home.write('.config/rouse/admin.key', gateway.adminKey)
  const key = ['--url', gateway.url, '--key-file', home.at('.config/rouse/admin.key')]
  expect(await home.rouse('install', 'codex', '--agent', '@erik', ...key)).toMatchObject({ code: 0 })
  const { current, profiles } = JSON.parse(home.read('.config/rouse/profiles.json'))
  expect([current, Object.keys(profiles)]).toEqual([undefined, ['erik']])
})

test('a profile with the operator’s key is refused', async () => {
  using home = makeHome()
  const operator = { url: 'http://127.0.0.1:9', key: 'rk_admin', identity: '@operator' }
  home.write('.config/rouse/profiles.json', JSON.stringify({ current: 'op', profiles: { op: operator } }))
  const { code, stderr } = await home.rouse('install', 'codex')
  expect([code, stderr]).toEqual([2, expect.stringContaining("the operator's key")])
})

test('--approvals of Claude Code: one hook holds a dialog, others see its end; it stays with the next installation, until it is undone', async () => {
  using home = makeHome()
  const settings = () => JSON.parse(home.read('.claude/settings.json')).hooks
  await home.rouse('install', 'claude')
  const plain = home.read('.claude/settings.json')
  expect(plain).not.toContain('--approvals')
  expect(await home.rouse('install', 'claude', '--approvals')).toMatchObject({ code: 0, stderr: '' })
  const hooksOf = (event: string) => settings()[event].map(({ hooks }: { hooks: object[] }) => hooks[0])
  expect(hooksOf('PermissionRequest')).toEqual([
    { type: 'command', command: expect.stringMatching(/ hook claude PermissionRequest .*--approvals$/), timeout: 600 },
  ])
  expect(hooksOf('PostToolUse')).toMatchObject([{ async: true, command: expect.stringMatching(/--approvals$/) }])
  expect(hooksOf('Stop')[0].command).toMatch(/--approvals$/)
  const held = home.read('.claude/settings.json')
  const again = await home.rouse('install', 'claude')
  expect(again.stdout).toContain('Nothing had to be changed.')
  expect(home.read('.claude/settings.json')).toBe(held)
  expect((await home.rouse('doctor', 'claude')).stdout).toMatch(/approvals: +a person may answer from elsewhere/)
  expect(await home.rouse('install', 'claude', '--no-approvals')).toMatchObject({ code: 0 })
  expect(home.read('.claude/settings.json')).toBe(plain)
  expect((await home.rouse('doctor', 'claude')).stdout).toMatch(/approvals: .*rouse install claude --approvals/)
})

test.each([
  ['codex', /rouse bridge add <handle> codex --approvals/],
  ['opencode', /rouse bridge add <handle> opencode --approvals/],
  ['cursor', /takes no answers from elsewhere: without --approvals/],
])('--approvals of %s is refused with what to do', async (harness, remedy) => {
  using home = makeHome()
  const { code, stderr } = await home.rouse('install', harness, '--approvals')
  expect([code, stderr]).toEqual([2, expect.stringMatching(remedy)])
  expect(contents(home.path)).toEqual({})
})

test('the hook of a dialog of Codex runs in the background, with its input and the process that has started it', async () => {
  using home = makeHome()
  await home.rouse('install', 'codex')
  const { hooks } = JSON.parse(home.read('.codex/hooks.json'))
  const commandOf = (event: string): string => hooks[event][0].hooks[0].command
  expect(commandOf('Stop')).not.toContain('sh -c')
  // A stand-in of the program, which says what it has got when the shell has ended.
  home.write('bin/rouse', '#!/bin/sh\nsleep 0.2\necho "$@" "$(cat)" > "$HOME/got"\n')
  chmodSync(home.at('bin/rouse'), 0o755)
  const words = commandOf('PermissionRequest').replace(/\{ .* hook codex /, `{ ${home.at('bin/rouse')} hook codex `)
  const from = performance.now()
  execFileSync('sh', ['-c', words], { input: '{"tool_name":"Bash"}', env: { ...process.env, HOME: home.path } })
  expect(performance.now() - from).toBeLessThan(200)
  const got = await until(
    () => (existsSync(home.at('got')) ? home.read('got') : ''),
    (text) => text.endsWith('\n'),
  )
  expect(got).toMatch(/^hook codex PermissionRequest --profile \w+ --parent \d+ \{"tool_name":"Bash"\}\n$/)
})

import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { run } from '../terminal.ts'
import { teamDesk } from './team-desk.ts'

const example = /^```yaml\n(.*?)^```$/ms.exec(
  readFileSync(new URL('../../../docs/team.md', import.meta.url), 'utf8'),
)![1]!

test('the example of docs/team.md is applied as it is, and again it changes nothing', async () => {
  await using at = await teamDesk()
  const path = join(at.directory, 'team.yaml')
  writeFileSync(path, example)
  const first = await run(['apply', path, '--save-keys', at.keys], at.env)
  expect(first.code, first.stderr).toBe(0)
  expect(first.stdout).toContain(`made     agent @donna, its key is in ${at.keys}/donna.key\n`)
  expect(first.stdout).toContain('made     grant CAN_REPLY_TO of @donna to @mike\n')
  expect(first.stdout).toMatch(/\n5 made, 0 as they were\.\n$/)
  expect((await at.gateway.call('GET', '/v1/agents/reviewer')).body).toMatchObject({
    handle: '@donna',
    displayName: 'Donna',
    skills: [{ id: 'review', name: 'Code review', tags: ['typescript', 'security'] }],
    contactPolicy: 'listed',
    defaultWakePolicy: 'next_turn',
  })
  expect(await at.subscriptions()).toMatchObject([
    { agentIdentity: '@donna', harnessTargetMetadata: { url: 'https://donna.example/wake', coalesceWindow: 10 } },
    { agentIdentity: '@mike', filters: { senderFilter: ['@donna'] }, status: 'waiting' },
  ])
  const head = await at.logHead()
  const again = await run(['apply', path], at.env)
  expect(again).toEqual({
    code: 0,
    stdout: `Nothing to change: the gateway has what ${path} says (5 entries).\n`,
    stderr: '',
  })
  expect(await at.logHead()).toBe(head)
})

test('what is exported and applied changes nothing, as YAML and as JSON, also with --prune', async () => {
  await using at = await teamDesk()
  const { gateway } = at
  const donna = await gateway.addAgent('donna', {
    aliases: ['reviewer'],
    description: 'Two lines:\n  - "quotes", # signs and\ta tab\n',
    skills: [{ id: 'true', name: '1e3', tags: ['no', '@x', '~'] }],
    inputModes: ['text/plain'],
  })
  const mike = await gateway.addAgent('mike', { displayName: 'Mike', description: 'hidden \u202e text \u009b1m' })
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  await gateway.call('POST', '/v1/agents', { handle: 'ines', project: 'web' })
  for (const grantee of ['@mike', 'web:@ines'])
    await gateway.call('POST', '/v1/permissions', { grantee, scope: 'CAN_REPLY_TO' }, donna)
  await gateway.call('POST', '/v1/permissions', { grantee: '@mike', scope: 'CAN_READ_INBOX_OF' })
  const filters = { senderFilter: ['boss', 'web:@ines'], taggedConcepts: ['b', 'a'], priority: 'high' }
  const sub = await gateway.subscribe(donna, 'http://127.0.0.1:9/', { trigger: 'SENT_TO_ME', filters })
  await gateway.subscribe(donna, 'http://127.0.0.1:9/', { trigger: 'SENT_TO_ME', filters })
  await gateway.call('PATCH', `/v1/wake-subscriptions/${sub.id}`, { status: 'paused' }, donna)
  const bridge = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  await gateway.call('POST', '/v1/wake-subscriptions', bridge, mike)
  await gateway.call('POST', '/v1/wake-subscriptions', { trigger: 'WAKE_FAILED', harnessTarget: 'disabled' })
  // Readers of YAML 1.1 would take it for false.
  expect(await at.exported()).toContain('- "no"\n')
  const head = await at.logHead()
  for (const format of [[], ['--json']]) {
    const text = await at.exported(...format)
    for (const options of [[], ['--prune'], ['--dry-run', '--prune']]) {
      const { code, stdout, stderr } = await at.apply(text, ...options)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toBe('Nothing to change: the gateway has what standard input says (9 entries).\n')
    }
  }
  expect(await at.logHead()).toBe(head)
})

test('an export has no key, and nothing that a terminal would obey', async () => {
  await using at = await teamDesk()
  const donna = await at.gateway.addAgent('donna', { description: 'hidden \u202e text \u009b1m' })
  const { signingKey } = await at.gateway.subscribe(donna, 'http://127.0.0.1:9/')
  for (const text of [await at.exported(), await at.exported('--json')]) {
    expect(text).toContain('donna')
    for (const secret of [donna.key, signingKey, at.gateway.adminKey, 'whsec_', 'rk_'])
      expect(text).not.toContain(secret)
    expect(text).not.toMatch(/[\u202e\u009b]/)
  }
})

test('subscriptions that a program makes for itself are not of the team', async () => {
  await using at = await teamDesk()
  const donna = await at.gateway.addAgent('donna')
  const target = { trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' }
  const reader = { harnessTargetMetadata: { reader: 'rouse bridge' } }
  await at.gateway.call('POST', '/v1/wake-subscriptions', { ...target, ...reader }, donna)
  const { sessionId } = (await at.gateway.call('POST', '/v1/sessions', { surface: 'codex' }, donna)).body
  await at.gateway.call('POST', '/v1/wake-subscriptions', { ...target, sessionId }, donna)
  expect(JSON.parse(await at.exported('--json')).subscriptions).toEqual([])
  expect((await at.apply('subscriptions: []', '--prune')).stdout).toContain('Nothing to change')
  expect(await at.subscriptions()).toHaveLength(2)
})

test('keys of new agents and webhooks are in files that only their owner can read, and nowhere else', async () => {
  await using at = await teamDesk()
  const text = `
agents: [{ handle: donna }]
subscriptions:
  - { agentIdentity: donna, trigger: SENT_TO_ME, harnessTargetMetadata: { url: "http://127.0.0.1:9/a" } }
  - { agentIdentity: donna, trigger: SENT_TO_ME, harnessTargetMetadata: { url: "http://127.0.0.1:9/b" } }
  - { agentIdentity: donna, trigger: WAKE_RECEIPT }
`
  const unnamed = await at.apply(text)
  expect([unnamed.code, unnamed.stdout]).toEqual([2, ''])
  expect(unnamed.stderr).toContain('--save-keys <directory>')
  expect((await at.gateway.call('GET', '/v1/agents')).body.agents).toEqual([])

  const { code, stdout, stderr } = await at.apply(text, '--save-keys', at.keys, '--json')
  expect(code, stderr).toBe(0)
  const files = ['donna.SENT_TO_ME.2.signing-key', 'donna.SENT_TO_ME.signing-key', 'donna.key']
  expect(readdirSync(at.keys).sort()).toEqual(files)
  expect(statSync(at.keys).mode & 0o777).toBe(0o700)
  const kept = files.map((file) => readFileSync(join(at.keys, file), 'utf8').trim())
  for (const [index, file] of files.entries()) {
    expect(statSync(join(at.keys, file)).mode & 0o777).toBe(0o600)
    expect(stdout).not.toContain(kept[index])
  }
  expect(kept[0]).toMatch(/^whsec_/)
  expect((await at.gateway.call('GET', '/v1/whoami', undefined, { key: kept[2]! })).body.identity).toBe('@donna')
  expect(JSON.parse(stdout).results[0]).toEqual({
    action: 'made',
    kind: 'agent',
    name: '@donna',
    place: 'standard input:2',
    keyFile: join(at.keys, 'donna.key'),
  })
})

test('a key file that is there is not written over, and no agent is made for it', async () => {
  await using at = await teamDesk()
  writeFileSync(join(at.directory, 'donna.key'), 'mine')
  const { code, stderr } = await at.apply('agents: [{ handle: donna }]', '--save-keys', at.directory)
  expect(code).toBe(1)
  expect(stderr).toContain('refused agent @donna')
  expect(stderr).toContain('donna.key. It already exists: move it away')
  expect(readFileSync(join(at.directory, 'donna.key'), 'utf8')).toBe('mine')
  expect((await at.gateway.call('GET', '/v1/agents')).body.agents).toEqual([])
})

test('--dry-run prints a diff of what would change, and changes nothing', async () => {
  await using at = await teamDesk()
  await at.gateway.addAgent('donna', { description: 'Old', aliases: ['reviewer'] })
  await at.gateway.addAgent('felix')
  const head = await at.logHead()
  const text = 'agents: [{ handle: donna, description: New, aliases: [] }, { handle: mike }]'
  const { code, stdout, stderr } = await at.apply(text, '--dry-run')
  expect(code).toBe(0)
  const changed = (diff: string) => diff.split('\n').filter((line) => /^[-+](?![-+])/.test(line))
  expect(changed(stdout)).toEqual(['-    description: Old', '+    description: New', '+  - handle: mike'])
  expect(stderr).toBe(
    'Not in standard input, and kept: agent @felix, alias @reviewer of @donna. --prune removes them.\n',
  )
  const pruned = changed((await at.apply(text, '--dry-run', '--prune')).stdout)
  expect(pruned).toEqual(expect.arrayContaining(['-  - handle: felix', '-      - reviewer', '+  - handle: mike']))
  expect(JSON.parse((await at.apply(text, '--dry-run', '--json')).stdout)).toMatchObject({
    dryRun: true,
    planned: [
      { action: 'change', kind: 'agent', name: '@donna', fields: ['description'] },
      { action: 'make', kind: 'agent', name: '@mike' },
    ],
    kept: ['agent @felix', 'alias @reviewer of @donna'],
  })
  expect(await at.logHead()).toBe(head)
})

test('a field that is not named stays, lists grow, and null removes', async () => {
  await using at = await teamDesk()
  const skills = [
    { id: 'review', name: 'Review' },
    { id: 'docs', name: 'Docs' },
  ]
  await at.gateway.addAgent('donna', { displayName: 'Donna', description: 'Old', aliases: ['reviewer'], skills })
  const text = `
agents:
  - handle: "@Donna"
    displayName: null
    aliases: [dd, donna]
    skills: [{ id: docs, name: Documents }, { id: fix, name: Fix }]
`
  const { stdout, stderr } = await at.apply(text)
  expect(stdout).toBe('changed  agent @donna: displayName, aliases, skills\n1 changed, 0 as they were.\n')
  expect(stderr).toContain('alias @reviewer of @donna, skill review of @donna')
  expect((await at.gateway.call('GET', '/v1/agents/donna')).body).toMatchObject({
    displayName: null,
    description: 'Old',
    aliases: ['@reviewer', '@dd'],
    skills: [skills[0], { id: 'docs', name: 'Documents' }, { id: 'fix', name: 'Fix' }],
  })
  expect((await at.apply(text, '--prune')).code).toBe(0)
  expect((await at.gateway.call('GET', '/v1/agents/donna')).body).toMatchObject({
    aliases: ['@dd'],
    skills: [{ id: 'docs' }, { id: 'fix' }],
  })
})

import { expect, test } from 'vitest'
import { agent, agentPage, newAgent, presentAgent } from './answers.ts'
import { startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

const donna = presentAgent({
  displayName: 'Donna',
  description: 'Reviews',
  aliases: ['@d'],
  skills: [{ id: 'review', name: 'Code review', tags: ['ts', 'security'] }],
})

test('agent add sends the profile and prints the key once', async () => {
  await using gateway = await startStubGateway({
    'POST /v1/agents': { status: 201, json: newAgent() },
  })
  const argv = [
    'agent',
    'add',
    '@donna',
    '--name',
    'Donna',
    '--description',
    'Reviews',
    '--alias',
    '@d',
    '--alias',
    '@dd',
  ]
  argv.push('--skill', 'review:Code review:ts, security', '--skill', 'docs', '--access', 'project')
  const { code, stdout } = await run([...argv, '--url', gateway.url, '--key', 'rk_admin'])
  expect(code).toBe(0)
  expect(stdout).toContain('@donna is registered')
  expect(stdout).toContain(`${gateway.url}/agents/donna`)
  expect(stdout.match(/rk_new/g)).toHaveLength(1)
  expect(stdout).toContain('shown only now')
  expect(gateway.last().headers.authorization).toBe('Bearer rk_admin')
  expect(gateway.last().body).toEqual({
    handle: '@donna',
    displayName: 'Donna',
    description: 'Reviews',
    aliases: ['@d', '@dd'],
    skills: [
      { id: 'review', name: 'Code review', tags: ['ts', 'security'] },
      { id: 'docs', name: 'docs', tags: [] },
    ],
    access: 'project',
  })
})

test('agent list aligns its columns', async () => {
  await using gateway = await startStubGateway({
    'GET /v1/agents': { json: agentPage(donna, presentAgent({ handle: '@al' })) },
  })
  const { stdout } = await run(['agent', 'list', '--url', gateway.url])
  expect(stdout).toBe(
    'HANDLE  NAME   ACCESS   SKILLS  DESCRIPTION\n' +
      '@donna  Donna  project  review  Reviews\n' +
      '@al     -      project  -       -\n',
  )
})

test('agent list --json prints the answer as one document', async () => {
  await using gateway = await startStubGateway({ 'GET /v1/agents': { json: agentPage(donna) } })
  const { stdout } = await run(['agent', 'list', '--json', '--url', gateway.url])
  expect(JSON.parse(stdout)).toEqual({ agents: [donna] })
})

test('an empty list says how to add something', async () => {
  await using gateway = await startStubGateway({ 'GET /v1/agents': { json: agentPage() } })
  const { stdout } = await run(['agent', 'list', '--url', gateway.url])
  expect(stdout).toContain('rouse agent add @donna')
})

test('control characters of others never reach the terminal', async () => {
  const evil = { ...donna, description: 'a\u001b]0;title\u0007b\nc\u202ed' }
  await using gateway = await startStubGateway({ 'GET /v1/agents/:handle': { json: evil } })
  const { stdout } = await run(['agent', 'show', 'donna', '--url', gateway.url])
  expect(stdout).toContain('description:  a]0;titleb cd\n')
})

test('agent show prints skills', async () => {
  await using gateway = await startStubGateway({ 'GET /v1/agents/:handle': { json: donna } })
  const { stdout } = await run(['agent', 'show', '@donna', '--url', gateway.url])
  expect(stdout).toContain('handle:       @donna\n')
  expect(stdout).toContain('review  Code review  [ts, security]')
})

test('agent update sends only the given fields', async () => {
  await using gateway = await startStubGateway({ 'PATCH /v1/agents/:handle': { json: agent() } })
  const { code } = await run(['agent', 'update', '@donna', '--description', 'New', '--url', gateway.url])
  expect(code).toBe(0)
  expect(gateway.last().body).toEqual({ description: 'New' })
})

test('agent rm, key add and key rm', async () => {
  await using gateway = await startStubGateway({
    'DELETE /v1/agents/:handle': { json: { agent: '@donna', tasksRejected: 2 } },
    'POST /v1/agents/:handle/keys': {
      status: 201,
      json: { keyId: 'k1', apiKey: 'rk_second', scopes: ['read'], expiresAt: null },
    },
    'DELETE /v1/agents/:handle/keys/:keyId': { status: 204 },
  })
  const at = ['--url', gateway.url]
  expect((await run(['agent', 'key', 'add', '@donna', '--label', 'laptop', ...at])).stdout).toContain('rk_second')
  expect(gateway.last().body).toEqual({ label: 'laptop' })
  expect((await run(['agent', 'key', 'rm', '@donna', 'k1', ...at])).stdout).toBe('Key k1 is revoked.\n')
  const removed = await run(['agent', 'rm', '@donna', '--yes', '--json', ...at])
  expect(JSON.parse(removed.stdout)).toEqual({ handle: '@donna', status: 'removed', tasksRejected: 2 })
  expect((await run(['agent', 'rm', '@donna', '--yes', ...at])).stdout).toBe(
    '@donna is removed. 2 open tasks were rejected.\n',
  )
})

import { expect, test } from 'vitest'
import { writeProfiles } from '../../src/client/profile-file.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'
import { offered } from './bash.ts'
import { problem, startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

/** The words that the shell gets for a command line, the last word of which is being typed. */
async function complete(words: string[], env: Record<string, string> = {}): Promise<string[]> {
  const { code, stdout, stderr } = await run(['complete', '--', ...words], env)
  expect([code, stderr]).toEqual([0, ''])
  return stdout.split('\n').filter(Boolean)
}

test('handles, ids and profiles are asked of the gateway with the key of the line, and of this machine', async () => {
  await using gateway = await startGateway()
  using home = dataDirectory()
  const donna = await gateway.addAgent('donna')
  await gateway.addAgent('mike')
  const env = { HOME: home.path }
  const profile = { url: gateway.url, key: donna.key, identity: '@donna' }
  const operator = { ...profile, key: gateway.adminKey, identity: '@operator' }
  const byName = new Map([
    ['donna', profile],
    ['office', operator],
  ])
  writeProfiles({ current: 'donna', byName }, env)
  const { id } = await gateway.send('donna', 'Review PR 7')
  const { body: mail } = await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Look' })
  const own = await run(['sub', 'add', '--trigger', 'SENT_TO_ME', '--target', 'none', '--json'], env)
  const { subscriptionId } = JSON.parse(own.stdout)
  const bare = subscriptionId.replace('WAKE_SUB:', '')
  await gateway.call('POST', '/v1/projects', { project: 'web' })
  await gateway.call('POST', '/v1/agents', { handle: 'erik' }, { headers: { 'rouse-project': 'web' } })
  const { sessionId } = JSON.parse((await run(['session', 'start', '--surface', 'codex', '--json'], env)).stdout)

  const cases: [words: string[], expected: string[]][] = [
    [
      ['agent', 'show', ''],
      ['donna', 'mike'],
    ],
    [['mail', 'm'], ['mike']],
    [
      ['mail', '@'],
      ['@donna', '@mike'],
    ],
    [['send', '--wait', '@do'], ['@donna']],
    [['send', 'donna', 'mi'], []],
    [['claim', 'handoff', 'PR-7', 'm'], ['mike']],
    [['inbox', '--agent', 'd'], ['donna']],
    [['task', 'show', ''], [id]],
    [['task', 'show', id.slice(0, 6)], [id]],
    [['send', '--task', id.slice(0, 6)], [id]],
    [['task', 'move', id, ''], []],
    [['answer', ''], []],
    [['mark', mail.messageId.slice(0, 34)], [mail.messageId]],
    [['thread', mail.messageId.slice(0, 34)], [mail.threadId]],
    [['sub', 'show', ''], [subscriptionId]],
    [['sub', 'show', bare.slice(0, 4)], [bare]],
    [['sub', 'rm', 'WAKE_SUB:'], [subscriptionId]],
    [['session', 'end', ''], [sessionId]],
    [
      ['profile', 'use', ''],
      ['donna', 'office'],
    ],
    [['--profile', 'o'], ['office']],
    [['inbox', '--profile', 'd'], ['donna']],
    // An operator sees the subscriptions of all, and no others are of this gateway.
    [['--profile', 'office', 'sub', 'show', ''], [subscriptionId]],
    [['sub', 'show', '--profile', 'office', bare.slice(0, 4)], [bare]],
    [['--profile=office', '--project=web', 'agent', 'show', ''], ['erik']],
    [['agent', 'show', '--profile', 'office', '--project=web', ''], ['erik']],
    [['--project=web=', '--profile=office', 'agent', 'show', ''], []],
    // Nothing has a list of these.
    [['agent', 'key', 'rm', 'donna', ''], []],
    [['sub', 'show', '--url', ''], []],
    [['sub', 'show', '-'], []],
    [['nothing', 'of', 'ours', ''], []],
    [['agent'], []],
    [[''], []],
    [[], []],
  ]
  for (const [words, expected] of cases) expect([words, await complete(words, env)]).toEqual([words, expected])
  const asking = await gateway.send('donna', 'Which branch?')
  await gateway.move(donna, asking.id, 'input-required', { message: 'Which one?' })
  expect(await complete(['--profile', 'office', 'answer', ''], env)).toEqual([asking.id])
})

test('whatever goes wrong, it prints nothing and ends well', async () => {
  using home = dataDirectory()
  const env = { HOME: home.path }
  expect(await complete(['agent', 'show', ''], { ...env, ROUSE_URL: 'http://127.0.0.1:9', ROUSE_KEY: 'k' })).toEqual([])
  await using refuses = await startStubGateway({ 'GET /v1/agents': problem(401, 'unauthenticated', 'No') })
  expect(await complete(['agent', 'show', ''], { ...env, ROUSE_URL: refuses.url, ROUSE_KEY: 'k' })).toEqual([])
  expect(await complete(['agent', 'show', ''], { ...env, ROUSE_URL: 'no url' })).toEqual([])
  expect(await complete(['--profile', 'none', 'agent', 'show', ''], env)).toEqual([])
  expect(await complete(['--key-file', '-', 'agent', 'show', ''], env)).toEqual([])
  expect(await complete(['--key-file', '/nonexistent', 'agent', 'show', ''], env)).toEqual([])
  expect(await run(['complete', '--wrong', 'agent'], env)).toMatchObject({ code: 0, stdout: '' })
})

test('a gateway that does not answer costs a second', async () => {
  await using hangs = await startStubGateway({ 'GET /v1/agents': () => undefined })
  const from = performance.now()
  expect(await complete(['agent', 'show', ''], { ROUSE_URL: hangs.url, ROUSE_KEY: 'k' })).toEqual([])
  expect(performance.now() - from).toBeLessThan(8_000)
})

// Names and ids of a gateway are the words of others.
test('a word that a shell could take for something else is not printed', async () => {
  const names = ['-rf', '$(touch x)', '`x`', 'a b', 'a;b', "a'b", 'a"b', 'a*', '~', 'a\nb', 'a\u001b[2J', 'ä', '', 'ok']
  const agents = names.map((name) => ({ handle: `@${name}` }))
  const page = { agents, nextPageToken: null } as never
  await using hostile = await startStubGateway({ 'GET /v1/agents': { json: page } })
  const env = { ROUSE_URL: hostile.url, ROUSE_KEY: 'k' }
  expect(await complete(['agent', 'show', ''], env)).toEqual(['ok'])
  expect(await complete(['agent', 'show', '@'], env)).toEqual(['@ok'])
  expect(hostile.last().headers.authorization).toBe('Bearer k')
})

test('bash offers them beside the options, and puts them in the place of what was typed', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const { id } = await gateway.subscribe(donna, 'http://127.0.0.1:9/')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const bare = id.replace('WAKE_SUB:', '')
  expect(await offered(['sub', 'show', ''], env)).toEqual(expect.arrayContaining([id, '--json']))
  // Readline replaces what follows the colon.
  expect(await offered(['sub', 'show', `WAKE_SUB:${bare.slice(0, 3)}`], env)).toEqual([bare])
  expect(await offered(['sub', 'show', 'WAKE_SUB:'], env)).toEqual([bare])
  expect(await offered(['mail', '@do'], env)).toEqual(['@donna'])
  expect(await offered(['inbox', '--agent', 'd'], env)).toEqual(['donna'])
  expect(await offered(['inbox', '--agent', ''], { ROUSE_URL: 'http://127.0.0.1:9', ROUSE_KEY: 'k' })).toEqual([])
})

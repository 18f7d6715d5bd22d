import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inWordsOf } from '../../src/cli/output/problem-words.ts'
import { buildProgram } from '../../src/cli/run/run.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { run } from './terminal.ts'

test('send to an unknown agent says so, and names the nearest', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('@donna')
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const { code, stdout, stderr } = await run(['send', '@dona', 'hello'], env)
  expect([code, stdout]).toEqual([1, ''])
  expect(stderr).toContain('error: No such agent (agent-not-found)\n  There is no agent dona.')
  expect(stderr).toContain('Did you mean @donna?')
  expect(stderr).not.toContain('Bearer')
  expect((await run(['send', '@zzzzzz', 'hello'], env)).stderr).toContain('`rouse who` lists the agents.')
  const json = JSON.parse((await run(['send', '@dona', 'hello', '--json'], env)).stderr)
  expect(json).toMatchObject({ code: 'agent-not-found', status: 404, candidates: ['@donna'] })
})

test('send with a wrong key says what is wrong, and where the key came from', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('@donna')
  const wrong = await run(['send', '@donna', 'x'], { ROUSE_URL: gateway.url, ROUSE_KEY: 'rk_wrong' })
  expect(wrong.code).toBe(1)
  expect(wrong.stderr).toContain('error: A valid API key is required (unauthenticated)\n  The API key is unknown')
  expect(wrong.stderr).toContain('The key came from ROUSE_KEY.')
  expect(wrong.stderr).not.toContain('rk_wrong')
  const none = await run(['send', '@donna', 'x'], { ROUSE_URL: gateway.url })
  expect(none.stderr).toContain('No key was sent')
  expect((await run(['send', '@donna', ''], { ROUSE_URL: gateway.url })).stderr).toContain('The text is empty')
})

test('a refusal for want of rights says whose key it was, and from where', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('@donna')
  using directory = dataDirectory()
  const file = join(directory.path, 'donna.key')
  writeFileSync(file, donna.key, { mode: 0o600 })
  const env = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const byVariable = await run(['agent', 'add', '@mike'], env)
  expect(byVariable.stderr).toContain('Only the operator may register agents; use the admin key.')
  expect(byVariable.stderr).toContain('The key of @donna was used, from ROUSE_KEY.')
  const byFlag = await run(['project', 'add', 'web', '--key-file', file], env)
  expect(byFlag.stderr).toContain(`The key of @donna was used, from --key-file ${file}.`)
  const byFile = await run(['audit'], { ROUSE_URL: gateway.url, ROUSE_KEY_FILE: file })
  expect(byFile.stderr).toContain(`The key of @donna was used, from ROUSE_KEY_FILE (${file}).`)
  const json = await run(['audit', '--json'], env)
  expect(JSON.parse(json.stderr)).toMatchObject({
    code: 'forbidden',
    keyUse: { source: 'ROUSE_KEY', identity: '@donna' },
  })
  const other = await run(['who'], { ...env, ROUSE_PROJECT: 'web' })
  expect(other.stderr).toContain('  --project: @donna belongs to project default')
})

// The calls that are refused, and the words of the REST API that the refusal must not have.
test.each<[string[], RegExp, RegExp]>([
  [['task', 'show', 'nope'], /`rouse task list` lists/, /GET/],
  [
    ['sub', 'add', '--trigger', 'SENT_TO_ME', '--target-url', 'http://127.0.0.1:9/'],
    /^ {2}--agent: an/m,
    /agentIdentity/,
  ],
  [
    ['sub', 'add', '--agent', 'donna', '--trigger', 'SENT_TO_ME', '--target-url', 'http://10.0.0.1:9/'],
    /^ {2}--target-url: 10\.0\.0\.1 may not be reached/m,
    /harnessTargetMetadata|field:/,
  ],
  [['mail', '@donna', 'x', '--subject', 'x'.repeat(201)], /^ {2}--subject: is too long: at most 200/m, /field:|string/],
  [['mail', '@nobody', 'x'], /^ {2}<to>: no agent/m, /field:/],
  [
    ['task', 'list', '--page-token', 'x'],
    /^ {2}--page-token: .*Give the token at the end of the previous page/m,
    /[pn]\w+Token/,
  ],
  [['agent', 'update', '@donna', '--skill', `${'x'.repeat(101)}:n:t`], /^ {2}--skill: /m, /skills/],
  [['thread', 'x'], /`rouse inbox` lists your messages/, /threadId/],
])('the refusal of %j speaks of options and commands', async (argv, words, wire) => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const { code, stderr } = await run(argv, { ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey })
  expect(code).toBe(1)
  expect(stderr).toMatch(words)
  expect(stderr).not.toMatch(wire)
})

test('a field that the command has no option for keeps its name', async () => {
  const program = await buildProgram({ stdout: () => {}, stderr: () => {}, env: {} })
  const mail = program.commands.find((command) => command.name() === 'mail')
  expect(inWordsOf(mail, { detail: 'drain: must be a boolean', field: 'drain' })).toBe('drain: must be a boolean')
  expect(inWordsOf(undefined, { detail: 'to: is required', field: 'to' })).toBe('to: is required')
  expect(inWordsOf(mail, { detail: 'see https://rouse.dev/agentIdentity' })).toContain('/agentIdentity')
})

/** Runs command lines of an agent that are refused. Returns what each says. */
async function refusals(gateway: TestGateway, key: string, ...lines: readonly string[][]): Promise<string[]> {
  const said = await Promise.all(lines.map((argv) => run(argv, { ROUSE_URL: gateway.url, ROUSE_KEY: key })))
  for (const { code, stderr } of said) {
    expect([code, stderr]).toEqual([1, stderr])
    expect(stderr).not.toMatch(/\b(GET|POST|PUT|PATCH|DELETE) |\/v1\//)
  }
  return said.map(({ stderr }) => stderr)
}

test('refusals about a subscription name the commands that mend it', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('@donna')
  const made = await gateway.call('POST', '/v1/wake-subscriptions', {
    ...{ agentIdentity: '@donna', trigger: 'SENT_TO_ME', harnessTarget: 'bridge-daemon' },
  })
  const id = made.body.subscriptionId
  expect(await refusals(gateway, donna.key, ['sub', 'test', id], ['sub', 'replay', id, '--event', 'none'])).toEqual([
    expect.stringContaining(
      'is connected to this gateway. Run `rouse listen` or `rouse bridge` where its agent works.',
    ),
    expect.stringContaining(`no delivery none. \`rouse sub deliveries ${id}\` lists its deliveries.`),
  ])
  await gateway.call('PATCH', `/v1/wake-subscriptions/${id}`, { status: 'paused' })
  const resync = ['sub', 'resync', id, '--since', '0']
  const replay = ['sub', 'replay', id, '--event', 'x']
  expect(await refusals(gateway, donna.key, resync, replay, ['sub', 'show', 'WAKE_SUB:none'])).toEqual([
    expect.stringContaining(
      `Make it active first: \`rouse sub update ${id} --status active\` resumes from its cursor.`,
    ),
    expect.stringContaining(`is paused. Make it active first: \`rouse sub update ${id} --status active\`.`),
    expect.stringContaining('`rouse sub list` lists your subscriptions.'),
  ])
})

test('refusals at a limit, and without a session, a thread or a right, name the commands that help', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('@donna')
  await gateway.call('PATCH', '/v1/projects/default', { limits: { owned: 1 } })
  await gateway.call('POST', '/v1/claims', { ref: 'a' }, { key: donna.key })
  await gateway.addAgent('@mike')
  await gateway.call('DELETE', '/v1/agents/mike')
  const raise = 'The operator may raise owned for the project: `rouse project limits <project> --set owned=<number>`.'
  const help = [
    `Release those that are done: \`rouse claim release <ref>\`. ${raise}`,
    'has no live session. Start one: `rouse session start`.',
    '`rouse session list` lists your sessions.',
    '`rouse inbox` lists your messages.',
  ]
  const lines = [
    ['claim', 'take', 'b'],
    ['presence', 'set', 'idle'],
    ['session', 'beat', 'none'],
    ['thread', 'none'],
  ]
  expect(await refusals(gateway, donna.key, ...lines)).toEqual(help.map((text) => expect.stringContaining(text)))
  const byOperator = [
    ['agent', 'add', '@zoe', '--alias', '@mike'],
    ['operator', 'key', 'rm', 'none'],
  ]
  expect(await refusals(gateway, gateway.adminKey, ...byOperator)).toEqual([
    expect.stringContaining('or free the names of that agent: `rouse agent rm mike --free-names`.'),
    expect.stringContaining('No live operator key "none". List them: `rouse operator key list`.'),
  ])
})

test('a refusal over A2A has the same words', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('@donna')
  const bob = await gateway.addAgent('@bob')
  const task = await gateway.send('donna', 'do it', { key: bob.key })
  await gateway.move(donna, task.id, 'working')
  await gateway.move(donna, task.id, 'completed')
  const [said] = await refusals(gateway, bob.key, ['send', '@donna', 'more', '--task', task.id])
  expect(said).toContain('accepts no more messages. Send a new message without --task.')
})

test('a gateway that sends no key of a remedy is shown with its own words', () => {
  const detail = 'There is no session s1, or it is not yours. GET /v1/sessions lists your sessions.'
  expect(inWordsOf(undefined, { detail })).toBe(detail)
  expect(inWordsOf(undefined, { detail, remedy: 'list-sessions' })).toContain('`rouse session list` lists')
})

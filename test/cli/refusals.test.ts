import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inWordsOf } from '../../src/cli/output/problem-words.ts'
import { buildProgram } from '../../src/cli/run/run.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { startGateway } from '../support/gateway.ts'
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
  expect(inWordsOf(mail, 'drain: must be a boolean', 'drain')).toBe('drain: must be a boolean')
  expect(inWordsOf(undefined, 'to: is required', 'to')).toBe('to: is required')
  expect(inWordsOf(mail, 'see https://rouse.dev/agentIdentity', undefined)).toContain('/agentIdentity')
})

test.each([
  ['Start one: POST /v1/sessions {"surface": "…"}.', 'Start one: rouse session start.'],
  ['Choose another name, or free the names: DELETE /v1/agents/bob?freeNames=true.', 'rouse agent rm bob --free-names.'],
  [
    'Wait 3 s. The operator may raise it for the project: PATCH /v1/projects/{project}.',
    'rouse project limits <project>',
  ],
  ['No live operator key "x". List them: GET /v1/operator-keys.', 'List them: rouse operator key list.'],
  ['projects: Leave the field out.', 'Leave it out.'],
  ['Send a new message with contextId c1 and referenceTaskIds [t1].', 'Send a new message without --task.'],
])('%s becomes a sentence for a terminal', (sentence, words) => {
  expect(inWordsOf(undefined, sentence)).toContain(words)
  expect(inWordsOf(undefined, sentence)).not.toMatch(/\/v1\/|contextId|field/)
})

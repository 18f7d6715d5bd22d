import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { JsonObject } from '../../../src/lib/json.ts'
import { personKey } from '../../approvals/person-key.ts'
import { startGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/until.ts'
import { problem, startStubGateway } from '../stub-gateway.ts'
import { start } from '../terminal.ts'

/** The input that Claude Code 2.1.332 gives to the hook of a dialog. */
const bash = {
  session_id: '0b6f0c52-7d6c-4f0a-9d53-0a7f1f0f4a11',
  cwd: '/home/u/p',
  prompt_id: 'prompt-1',
  permission_mode: 'default',
  hook_event_name: 'PermissionRequest',
  tool_name: 'Bash',
  tool_input: { command: 'rm -rf build && echo é ✓', description: 'clean up' },
  permission_suggestions: [],
}
const questions = [{ question: 'Which store?', header: 'Store', multiSelect: false, options: [{ label: 'SQLite' }] }]
const question = { ...bash, tool_name: 'AskUserQuestion', tool_input: { questions } }

async function openDesk() {
  const gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const anna = await personKey(gateway, 'anna')
  const hook = (input: JsonObject, env = {}, ...argv: string[]) =>
    runHook({ ROUSE_URL: gateway.url, ROUSE_KEY: donna.key, ...env }, input, ...argv)
  const list = async () => (await gateway.call('GET', '/v1/approvals')).body.approvals
  return {
    gateway,
    donna,
    hook,
    list,
    asked: async () => (await until(list, ([newest]) => newest?.state === 'open'))[0],
    decide: (approval: JsonObject, body: object) => decide(gateway, anna, approval, body),
    presence: async () => (await gateway.call('GET', '/v1/sessions')).body.sessions[0]?.presence.state,
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  }
}

/** A hook as the installation with `--approvals` runs it. */
function runHook(env: Record<string, string>, input: JsonObject, ...argv: string[]) {
  const flags = argv.length > 0 ? argv : ['--approvals']
  const text = Buffer.from(`${JSON.stringify(input)}\n`)
  const event = String(input.hook_event_name)
  return start(['hook', 'claude', event, ...flags], env, { input: Readable.from([text]) })
}

const decide = ({ call }: TestGateway, key: string, { approvalId, inputHash }: JsonObject, body: object) =>
  call('POST', `/v1/approvals/${approvalId}/decision`, { inputHash, ...body }, { key })

test.each([
  ['allowed', bash, { answer: 'once' }, { behavior: 'allow' }],
  ['refused with a sentence', bash, { answer: 'deny', message: 'Not now.' }, { behavior: 'deny', message: 'Not now.' }],
  ['refused', bash, { answer: 'deny' }, { behavior: 'deny', message: 'The user has refused this.' }],
  [
    'a question that is answered',
    question,
    { answer: 'answer', answers: { 'Which store?': 'SQLite' } },
    { behavior: 'allow', updatedInput: { questions, answers: { 'Which store?': 'SQLite' } } },
  ],
  [
    'a question that is refused',
    question,
    { answer: 'deny', message: 'Ask less.' },
    { behavior: 'deny', message: 'Ask less.' },
  ],
] as const)('%s', async (_case, input, body, decision) => {
  await using desk = await openDesk()
  const hook = desk.hook(input)
  const asked = await desk.asked()
  expect(asked).toMatchObject({
    harness: 'claude',
    conversationId: bash.session_id,
    tool: input.tool_name,
    input: input.tool_input,
    cwd: bash.cwd,
    mode: 'default',
  })
  expect(await desk.presence()).toBe('waitingOnApproval')
  expect((await desk.decide(asked, body)).status).toBe(200)
  expect([await hook.code, hook.stderr()]).toEqual([0, ''])
  expect(JSON.parse(hook.stdout())).toEqual({ hookSpecificOutput: { hookEventName: 'PermissionRequest', decision } })
  // The dialog is gone.
  expect(await desk.presence()).toBe('active')
})

test.each([
  ['without --approvals', bash, {}, '--json'],
  ['a plan, which is not in the input', { ...bash, tool_name: 'ExitPlanMode', tool_input: {} }, {}, '--approvals'],
  ['a run without its user', bash, { CLAUDE_CODE_SESSION_ATTENDED: '0' }, '--approvals'],
])('is not asked elsewhere: %s', async (_case, input, env, flag) => {
  await using desk = await openDesk()
  const hook = desk.hook(input, env, flag)
  expect([await hook.code, hook.stdout()]).toEqual([0, ''])
  expect(await desk.list()).toEqual([])
})

test.each([
  ['PostToolUse', { tool_input: bash.tool_input }],
  ['Stop', {}],
  ['UserPromptSubmit', { prompt: 'go on' }],
  ['SessionEnd', { reason: 'other' }],
])(
  'answered in the terminal, as %s shows: the hook ends without a word, and a person elsewhere is too late',
  async (event, more) => {
    await using desk = await openDesk()
    const hook = desk.hook(bash)
    const asked = await desk.asked()
    const other = desk.hook({ ...bash, hook_event_name: 'PostToolUse', tool_input: { command: 'another' } })
    expect(await other.code).toBe(0)
    expect((await desk.list())[0].state).toBe('open')
    expect(await desk.hook({ ...bash, hook_event_name: event, ...more }).code).toBe(0)
    expect([await hook.code, hook.stdout()]).toEqual([0, ''])
    expect((await desk.list())[0].state).toBe('answered_there')
    expect((await desk.decide(asked, { answer: 'once' })).body).toMatchObject({ code: 'approval-answered' })
  },
)

test.each([
  ['allowed, and it ran', { answer: 'once' }, 'PostToolUse', 'taken'],
  ['allowed, and it failed', { answer: 'once' }, 'PostToolUseFailure', 'taken'],
  ['refused, and it did not run', { answer: 'deny' }, 'Stop', 'taken'],
  ['refused, and it ran all the same: the person in the terminal was first', { answer: 'deny' }, 'PostToolUse', 'late'],
  ['allowed, and nothing shows what became of it', { answer: 'once' }, 'Stop', null],
])('%s', async (_case, body, event, outcome) => {
  await using desk = await openDesk()
  const hook = desk.hook(bash)
  await desk.decide(await desk.asked(), body)
  await hook.code
  expect(await desk.hook({ ...bash, hook_event_name: event }).code).toBe(0)
  expect((await desk.list())[0]).toMatchObject({ state: 'answered', outcome })
})

test('a hook that is told to end takes the request back', async () => {
  await using desk = await openDesk()
  const hook = desk.hook(bash)
  const asked = await desk.asked()
  const from = performance.now()
  hook.interrupt()
  expect([await hook.code, hook.stdout()]).toEqual([0, ''])
  expect(performance.now() - from).toBeLessThan(1_000)
  expect((await desk.list())[0].state).toBe('withdrawn')
  expect((await desk.decide(asked, { answer: 'once' })).status).toBe(409)
})

test('two dialogs of one conversation have an answer each', async () => {
  await using desk = await openDesk()
  const first = desk.hook(bash)
  const one = await desk.asked()
  const second = desk.hook(bash)
  const two = (await until(desk.list, ({ length }) => length === 2))[0]
  await desk.decide(two, { answer: 'deny', message: 'two' })
  await second.code
  expect(second.stdout()).toContain('two')
  expect(first.stdout()).toBe('')
  await desk.decide(one, { answer: 'once' })
  await first.code
  expect(first.stdout()).toContain('allow')
})

test('a gateway that starts again meanwhile has the request, and the answer arrives', async () => {
  await using desk = await openDesk()
  const { gateway, donna } = desk
  const anna = await personKey(gateway, 'bert')
  const hook = desk.hook(bash)
  const asked = await desk.asked()
  await gateway.stop()
  const port = new URL(gateway.url).port
  await using again = await startGateway({ dataDir: gateway.dataDir, env: { ROUSE_PORT: port } })
  expect(donna.key).not.toBe(anna)
  expect((await decide(again, anna, asked, { answer: 'once' })).status).toBe(200)
  expect([await hook.code, hook.stderr()]).toEqual([0, ''])
  expect(hook.stdout()).toContain('"behavior":"allow"')
})

const hash = '0'.repeat(64)

test.each([
  ['knows no approvals', { 'POST /v1/approvals': problem(404, 'not-found', 'No such resource') }],
  ['refuses the key', { 'POST /v1/approvals': problem(401, 'unauthenticated', 'No valid key') }],
  ['notes another request', { 'POST /v1/approvals': { json: { approvalId: 'APPROVAL:1', inputHash: hash } } }],
])('a gateway that %s: the dialog is the terminal’s alone', async (_case, answers) => {
  await using stub = await startStubGateway({ 'PUT /v1/presence': { json: {} }, ...answers } as never)
  const hook = runHook({ ROUSE_URL: stub.url, ROUSE_KEY: 'k' }, bash)
  expect([await hook.code, hook.stdout()]).toEqual([0, ''])
})

test('an answer to another request than the hook’s is none', async () => {
  await using desk = await openDesk()
  const open = { approvalId: 'APPROVAL:1', state: 'open', decision: null }
  const decided = {
    ...open,
    state: 'answered',
    inputHash: hash,
    decision: { answer: 'once', message: null, answers: null },
  }
  let inputHash = ''
  await using stub = await startStubGateway({
    'PUT /v1/presence': { json: {} },
    'POST /v1/approvals': () => ({ json: { ...open, inputHash } }),
    'GET /v1/approvals/:id': { json: decided },
  } as never)
  const real = desk.hook(bash)
  inputHash = (await desk.asked()).inputHash
  real.interrupt()
  await real.code
  const hook = runHook({ ROUSE_URL: stub.url, ROUSE_KEY: 'k' }, bash)
  expect([await hook.code, hook.stdout()]).toEqual([0, ''])
  expect(stub.requests.some(({ method, path }) => method === 'GET' && path.startsWith('/v1/approvals/'))).toBe(true)
})

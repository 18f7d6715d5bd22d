import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { inputMax, readInput } from '../../../src/cli/hook/read-input.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'
import { problem, startStubGateway } from '../stub-gateway.ts'
import { run } from '../terminal.ts'

/** The input that Claude Code 2.1 gives to the hook of a prompt. */
const claudePrompt = {
  session_id: '0b6f0c52-7d6c-4f0a-9d53-0a7f1f0f4a11',
  transcript_path: '/home/u/.claude/projects/p/0b6f.jsonl',
  cwd: '/home/u/p',
  prompt_id: 'prompt-1',
  permission_mode: 'default',
  hook_event_name: 'UserPromptSubmit',
  prompt: 'go on',
}
/** The input that Codex 0.169 gives to the hook of a session's start: one line. */
const codexStart = {
  session_id: '019a-thread',
  transcript_path: '/home/u/.codex/sessions/r.jsonl',
  cwd: '/home/u/p',
  hook_event_name: 'SessionStart',
  model: 'm',
  permission_mode: 'default',
  source: 'startup',
}

const inputOf = (value: unknown) => Readable.from([Buffer.from(`${JSON.stringify(value)}\n`)])

async function hook(gateway: TestGateway, agent: TestAgent, argv: string[], input: unknown, env = {}) {
  const access = { ROUSE_URL: gateway.url, ROUSE_KEY: agent.key }
  return run(['hook', ...argv], { ...access, ...env }, { input: inputOf(input) })
}

const contextOf = (stdout: string) => JSON.parse(stdout).hookSpecificOutput

async function mail(gateway: TestGateway, to: string, subject: string): Promise<string> {
  const { body } = await gateway.call('POST', '/v1/messages', { to, subject, wakePolicy: 'next_turn' })
  return body.messageId
}

const inboxOf = async (gateway: TestGateway, { key }: TestAgent) =>
  (await gateway.call('GET', '/v1/inbox?order=oldest', undefined, { key })).body.messages

test('a character that two chunks share is read whole', async () => {
  const bytes = Buffer.from(JSON.stringify({ prompt: `${'x'.repeat(65_536 - '{"prompt":"'.length - 1)}é` }))
  const chunks = [bytes.subarray(0, 65_536), bytes.subarray(65_536)]
  expect(chunks[0]!.at(-1)).toBe(0xc3)
  const { prompt } = await readInput(Readable.from(chunks))
  expect(String(prompt).slice(-2)).toBe('xé')
})

describe('the mailbox check at the start of a turn', () => {
  // S1-15
  test('Claude Code learns who wrote what, once, and the mail stays unread', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const id = await mail(gateway, '@donna', 'Please review PR 7')
    const printed = await hook(gateway, donna, ['claude', 'UserPromptSubmit'], claudePrompt)
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    const { hookEventName, additionalContext } = contextOf(printed.stdout)
    expect(hookEventName).toBe('UserPromptSubmit')
    expect(additionalContext).toContain(`- relay from your user (@operator): "Please review PR 7" (${id})`)
    expect(additionalContext).toContain('read_inbox')
    expect(additionalContext).toContain('cannot grant permissions')
    expect(await inboxOf(gateway, donna)).toMatchObject([{ status: 'sent', receipt: 'written' }])
    expect(await hook(gateway, donna, ['claude', 'UserPromptSubmit'], claudePrompt)).toMatchObject({ stdout: '' })
  })

  test('Codex is notified at the start of its session', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await mail(gateway, '@donna', 'Hello')
    const { stdout } = await hook(gateway, donna, ['codex', 'SessionStart'], codexStart)
    expect(contextOf(stdout)).toMatchObject({ hookEventName: 'SessionStart' })
  })

  test('fifty long messages fit into what a harness takes', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    for (let count = 0; count < 51; count++) await mail(gateway, '@donna', `${'x'.repeat(150)} ${count}`)
    const first = contextOf((await hook(gateway, donna, ['claude', 'UserPromptSubmit'], claudePrompt)).stdout)
    expect(first.additionalContext.length).toBeLessThan(10_000)
    expect(first.additionalContext.split('\n- ')).toHaveLength(51)
    const second = contextOf((await hook(gateway, donna, ['claude', 'UserPromptSubmit'], claudePrompt)).stdout)
    expect(second.additionalContext.split('\n- ')).toHaveLength(2)
  })

  test('a run that nobody watches takes no mail and no session from the one at the terminal', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await mail(gateway, '@donna', 'Hello')
    const env = { CLAUDE_CODE_SESSION_ATTENDED: '0' }
    const { stdout } = await hook(gateway, donna, ['claude', 'UserPromptSubmit'], claudePrompt, env)
    expect(contextOf(stdout).additionalContext).toContain('1 message waits')
    expect(await inboxOf(gateway, donna)).toMatchObject([{ deliveredAt: null }])
    expect((await gateway.call('GET', '/v1/sessions')).body.sessions).toEqual([])
  })
})

describe('presence', () => {
  const presenceOf = async (gateway: TestGateway) => (await gateway.call('GET', '/v1/sessions')).body.sessions[0]

  test('follows the events of one process in one session', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const steps = [
      ['SessionStart', 'idle'],
      ['UserPromptSubmit', 'active'],
      ['PermissionRequest', 'waitingOnApproval'],
      ['Stop', 'idle'],
    ] as const
    for (const [event, state] of steps) {
      const { stderr } = await hook(gateway, donna, ['claude', event], { ...claudePrompt, hook_event_name: event })
      expect(stderr).toBe('')
      expect(await presenceOf(gateway)).toMatchObject({
        harness: { cwd: claudePrompt.cwd, sessionId: claudePrompt.session_id },
        surface: 'claude_code',
        presence: { state, source: 'bridge-daemon' },
      })
    }
    const ended = await gateway.call('GET', '/v1/sessions?status=ended')
    expect(ended.body.sessions).toEqual([])
    await hook(gateway, donna, ['claude', 'SessionEnd'], { reason: 'prompt_input_exit' })
    expect(await presenceOf(gateway)).toBeUndefined()
  })

  test('the end of a conversation ends no session of another process', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const other = { surface: 'claude_code', pid: 4711, startedAt: '2026-04-26T10:00:00.000Z' }
    await gateway.call('POST', '/v1/sessions', other, { key: donna.key })
    await hook(gateway, donna, ['claude', 'SessionEnd'], { reason: 'other' })
    expect(await presenceOf(gateway)).toMatchObject({ pid: 4711 })
  })

  // S3-9
  test.each([
    ['prompt_input_exit', 'closed'],
    ['logout', 'closed'],
    ['other', 'ended'],
  ])('a conversation that ends with %s is %s: only what its user closed is not started anew', async (reason, end) => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await hook(gateway, donna, ['claude', 'SessionStart'], { source: 'startup' })
    await hook(gateway, donna, ['claude', 'SessionEnd'], { reason })
    const { body } = await gateway.call('GET', '/v1/sessions?status=ended', undefined, { key: donna.key })
    expect(body.sessions).toMatchObject([{ status: 'ended', reason: end }])
  })

  // D50
  test('a turn that fails at a limit parks the agent until its reset, and one that fails otherwise does not', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const parked = async () => (await gateway.call('GET', '/v1/parked', undefined, { key: donna.key })).body.parked
    await hook(gateway, donna, ['claude', 'SessionStart'], { source: 'startup' })
    await hook(gateway, donna, ['claude', 'StopFailure'], { error: 'server_error' })
    expect(await parked()).toBeNull()
    const said = "You've hit your session limit · resets in 2 hours"
    await hook(gateway, donna, ['claude', 'StopFailure'], { error: 'rate_limit', last_assistant_message: said })
    expect(await parked()).toMatchObject({ reason: 'usage-limit', until: expect.any(String), detail: said })
  })

  // S3-4
  test('the size of the context is reported when a turn is over, as the transcript has it', async () => {
    using home = dataDirectory()
    const path = join(home.path, 'transcript.jsonl')
    const answer = (input_tokens: number, more = {}) =>
      JSON.stringify({
        type: 'assistant',
        message: { usage: { input_tokens, cache_read_input_tokens: 90_000, output_tokens: 500 } },
        ...more,
      })
    const lines = [answer(1), answer(1_000), answer(7, { isSidechain: true }), '{"type":"user","usage":']
    writeFileSync(path, `${lines.join('\n')}\n`)
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    await hook(gateway, donna, ['claude', 'SessionStart'], { source: 'startup' })
    const reported: unknown[] = []
    await using old = await startStubGateway({
      'PUT /v1/presence': ({ body }) => {
        reported.push(body)
        return 'contextTokens' in (body as object)
          ? problem(400, 'invalid-request', 'contextTokens: not known')
          : { json: {} as never }
      },
    })
    const access = { ROUSE_URL: old.url, ROUSE_KEY: donna.key }
    const input = () => inputOf({ transcript_path: path })
    const stop = await run(['hook', 'claude', 'Stop'], access, { input: input() })
    expect(stop).toMatchObject({ code: 0, stderr: '' })
    expect(reported).toMatchObject([{ contextTokens: 91_500 }, { state: 'idle' }])
    expect(reported[1]).not.toHaveProperty('contextTokens')
    expect(await hook(gateway, donna, ['claude', 'Stop'], { transcript_path: path })).toMatchObject({
      code: 0,
      stderr: '',
    })
  })

  // D12
  test('an older process reports nothing for a newer one, and takes none of its mail', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const newer = { surface: 'claude_code', pid: 4711, startedAt: new Date().toISOString() }
    await gateway.call('POST', '/v1/sessions', newer, { key: donna.key })
    await mail(gateway, '@donna', 'Hello')
    const { code, stdout, stderr } = await hook(gateway, donna, ['claude', 'UserPromptSubmit'], claudePrompt)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('A process that started later speaks for @donna')
    expect(await presenceOf(gateway)).toMatchObject({ pid: 4711, presence: { state: 'unknown' } })
    expect(await inboxOf(gateway, donna)).toMatchObject([{ deliveredAt: null }])
  })
})

describe('a hook never fails the turn', () => {
  const quiet = { code: 0, stdout: '' }
  const env = { ROUSE_KEY: 'k' }

  test.each([
    [
      'no gateway',
      ['claude', 'Stop', '--url', 'http://127.0.0.1:1'],
      /No gateway answers at http:\/\/127\.0\.0\.1:1 \(/,
    ],
    ['an option without a value', ['claude', 'Stop', '--url'], /argument missing/],
    ['an unknown option', ['no-harness', '--bogus'], /^$/],
    ['an unknown harness', ['no-harness', 'Stop'], /^$/],
    ['an unknown event', ['claude', 'PreCompact'], /^$/],
    ['no event', ['claude'], /^$/],
    ['no arguments', [], /^$/],
    ['an unknown profile', ['claude', 'Stop', '--profile', 'nobody'], /There is no profile/],
  ])('%s', async (_what, argv, stderr) => {
    const ended = await run(['hook', ...argv], { ...env, XDG_CONFIG_HOME: '/nonexistent' }, { input: inputOf({}) })
    expect(ended).toMatchObject(quiet)
    expect(ended.stderr).toMatch(stderr)
  })

  test('a gateway that refuses, that answers no JSON, or not at all', async () => {
    await using refuses = await startStubGateway({ 'PUT /v1/presence': problem(503, 'overloaded', 'Too busy') })
    const stop = (url: string) => run(['hook', 'claude', 'Stop', '--url', url], env, { input: inputOf({}) })
    expect(await stop(refuses.url)).toMatchObject({ ...quiet, stderr: 'rouse hook: Too busy\n' })
    await using babbles = await startStubGateway({ 'PUT /v1/presence': { text: '<html>' } })
    expect(await stop(babbles.url)).toMatchObject(quiet)
    await using hangs = await startStubGateway({ 'PUT /v1/presence': () => undefined })
    const from = performance.now()
    expect(await stop(hangs.url)).toMatchObject({ ...quiet, stderr: 'rouse hook: no answer within 2 s\n' })
    expect(performance.now() - from).toBeLessThan(4_000)
  })

  test('input that never ends, is too long, or is no JSON', async () => {
    await using gateway = await startGateway()
    const donna = await gateway.addAgent('donna')
    const access = { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
    const stop = async (input: Readable, event = 'Stop') => run(['hook', 'claude', event], access, { input })
    const open = new PassThrough()
    open.write(JSON.stringify(claudePrompt))
    expect(await stop(open)).toMatchObject({ ...quiet, stderr: '' })
    expect(open.destroyed).toBe(true)
    expect(await stop(new PassThrough())).toMatchObject({ ...quiet, stderr: '' })
    expect(await stop(Readable.from([Buffer.alloc(inputMax.bytes + 1, '{')]))).toMatchObject({ ...quiet, stderr: '' })
    expect(await stop(Readable.from([Buffer.from('no JSON')]))).toMatchObject({ ...quiet, stderr: '' })
  })
})

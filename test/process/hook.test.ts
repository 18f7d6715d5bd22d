import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { startStubGateway } from '../cli/stub-gateway.ts'
import { atTestEnd } from '../support/ends.ts'
import { startGateway } from '../support/gateway.ts'
import { rouseWords } from '../support/program/rouse-words.ts'

/** The input that Codex 0.169 gives to the hook of a prompt. */
const prompt = {
  session_id: '019a-thread',
  transcript_path: '/home/u/.codex/sessions/r.jsonl',
  cwd: '/home/u/p',
  hook_event_name: 'UserPromptSubmit',
  model: 'm',
  permission_mode: 'default',
  turn_id: 'turn-7',
  prompt: 'go on',
}

/** Runs a hook as a harness does: through a shell, with standard input that stays open. */
async function hook(env: Record<string, string>, ...argv: string[]) {
  const command = [process.execPath, ...rouseWords(), 'hook', ...argv].map((word) => `'${word}'`).join(' ')
  const child = spawn('sh', ['-c', `${command}; exit $?`], {
    env: { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ...env },
  })
  atTestEnd(() => void child.kill('SIGKILL'))
  const printed = { stdout: '', stderr: '' }
  child.stdout.on('data', (text) => (printed.stdout += text))
  child.stderr.on('data', (text) => (printed.stderr += text))
  child.stdin.on('error', () => {})
  child.stdin.write(`${JSON.stringify(prompt)}\n`)
  const [code] = await once(child, 'close')
  return { code, ...printed }
}

// S1-8, S1-15, D12
test('a hook that a shell started reports for the process of the harness, and says what waits', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  await gateway.call('POST', '/v1/messages', { to: '@donna', subject: 'Hello', wakePolicy: 'next_turn' })
  const { code, stdout, stderr } = await hook(
    { ROUSE_URL: gateway.url, ROUSE_KEY: donna.key },
    'codex',
    'UserPromptSubmit',
  )
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain('"Hello"')
  const { sessions } = (await gateway.call('GET', '/v1/sessions')).body
  const presence = { state: 'active', activeTurnId: 'turn-7' }
  expect(sessions).toMatchObject([{ surface: 'codex', pid: process.pid, presence }])
})

test('a gateway that does not answer costs two seconds, and no turn', async () => {
  await using hangs = await startStubGateway({ 'PUT /v1/presence': () => undefined })
  const from = performance.now()
  const { code, stdout, stderr } = await hook({ ROUSE_URL: hangs.url, ROUSE_KEY: 'k' }, 'codex', 'UserPromptSubmit')
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: 'rouse hook: no answer within 2 s\n' })
  expect(performance.now() - from).toBeLessThan(8_000)
})

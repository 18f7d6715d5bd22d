import { expect, test } from 'vitest'
import { type StubRequest, startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

const task = {
  id: 't1',
  contextId: 'c1',
  status: {
    state: 'TASK_STATE_INPUT_REQUIRED',
    message: { messageId: 'm2', role: 'ROLE_AGENT', parts: [{ text: 'Which branch?' }] },
  },
  artifacts: [{ artifactId: 'a1', parts: [{ text: 'half a report' }] }],
}

const answering = (result: unknown) => ({ 'POST /agents/donna': { json: { jsonrpc: '2.0', id: 1, result } } })

test('send makes a task and returns at once', async () => {
  await using gateway = await startStubGateway(answering({ task }))
  const { code, stdout } = await run(['send', '@donna', 'Please', 'review', '--url', gateway.url, '--key', 'rk_1'])
  expect(code).toBe(0)
  expect(stdout).toContain('task:   t1\nstate:  input-required\n')
  expect(stdout).not.toContain('half a report')
  expect(gateway.last().headers).toMatchObject({ 'a2a-version': '1.0', authorization: 'Bearer rk_1' })
  expect(gateway.last().headers['idempotency-key']).toBeUndefined()
  expect(gateway.last().body).toEqual({
    jsonrpc: '2.0',
    id: 1,
    method: 'SendMessage',
    params: {
      message: {
        messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        role: 'ROLE_USER',
        parts: [{ text: 'Please review' }],
      },
      configuration: { returnImmediately: true },
    },
  })
})

test('send --wait prints the result of the task', async () => {
  await using gateway = await startStubGateway(answering({ task }))
  const argv = ['send', 'donna', 'main', '--task', 't1', '--wait', '--url', gateway.url]
  const { stdout } = await run(argv)
  expect(gateway.last().body).toMatchObject({
    params: { message: { taskId: 't1' }, configuration: { returnImmediately: false } },
  })
  expect(stdout).toContain('Which branch?')
  expect(stdout).toContain('half a report')
})

test('the same idempotency key makes the same request', async () => {
  await using gateway = await startStubGateway(answering({ task }))
  const argv = ['send', '@donna', 'x', '--idempotency-key', 'k1', '--url', gateway.url]
  await run(argv)
  await run(argv)
  const [first, second] = gateway.requests as [StubRequest, StubRequest]
  expect(first.headers['idempotency-key']).toBe('k1')
  expect(second.body).toEqual(first.body)
})

test('an agent may answer with a message instead of a task', async () => {
  await using gateway = await startStubGateway(
    answering({ message: { messageId: 'm', role: 'ROLE_AGENT', parts: [{ text: 'Hi' }] } }),
  )
  const { code, stdout } = await run(['send', '@donna', 'hello', '--url', gateway.url])
  expect(code).toBe(0)
  expect(stdout).toContain('[agent]\nHi\n')
})

test('a JSON-RPC error is a refusal', async () => {
  const error = { code: -32001, message: 'Task not found', data: [{ reason: 'TASK_NOT_FOUND' }] }
  await using gateway = await startStubGateway({ 'POST /agents/donna': { json: { jsonrpc: '2.0', id: 1, error } } })
  const { code, stderr } = await run(['send', '@donna', 'x', '--task', 'nope', '--url', gateway.url])
  expect(code).toBe(1)
  expect(stderr).toContain('No such task (task-not-found)\n  Task not found')
})

test('send --json prints the result of the call', async () => {
  await using gateway = await startStubGateway(answering({ task }))
  const { stdout } = await run(['send', '@donna', 'x', '--json', '--url', gateway.url])
  expect(JSON.parse(stdout)).toEqual({ task })
})

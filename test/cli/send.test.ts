import { expect, test } from 'vitest'
import { task as aTask } from './answers.ts'
import { problem, type StubRequest, startStubGateway } from './stub-gateway.ts'
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

test('send --wait prints the result of the task, and how to answer what it asks', async () => {
  await using gateway = await startStubGateway(answering({ task }))
  const argv = ['send', '@donna', 'main', '--task', 't1', '--wait', '--url', gateway.url]
  const { code, stdout } = await run(argv)
  expect(code).toBe(5)
  expect(stdout).toContain('Answer it: rouse answer t1 "…"')
  expect(gateway.last().body).toMatchObject({
    params: { message: { taskId: 't1' }, configuration: { returnImmediately: false } },
  })
  expect(stdout).toContain('Which branch?')
  expect(stdout).toContain('half a report')
})

test.each([
  ['COMPLETED', 0],
  ['FAILED', 4],
  ['REJECTED', 4],
  ['CANCELED', 4],
  ['INPUT_REQUIRED', 5],
  ['AUTH_REQUIRED', 5],
])('send --wait exits by the end of the task: %s with %i', async (state, expected) => {
  await using gateway = await startStubGateway(
    answering({ task: { ...task, status: { state: `TASK_STATE_${state}` } } }),
  )
  const argv = ['send', '@donna', 'x', '--url', gateway.url]
  expect((await run([...argv, '--wait'])).code).toBe(expected)
  expect((await run([...argv, '--wait', '--json'])).code).toBe(expected)
  expect((await run(argv)).code, 'without --wait it is sent, and no more').toBe(0)
})

test('send --wait outlives a gateway that is away, and says once that it waits for it', async () => {
  const answers = [problem(503, 'unavailable', 'Stopping'), problem(503, 'unavailable', 'Stopping')]
  const inState = (state: string) => ({ ...task, status: { state: `TASK_STATE_${state}` } })
  await using gateway = await startStubGateway({
    'POST /agents/donna': ({ body }: StubRequest) => {
      const result = { jsonrpc: '2.0', id: 1 }
      if ((body as { method: string }).method === 'SendMessage')
        return { json: { ...result, result: { task: inState('WORKING') } } }
      return answers.shift() ?? { json: { ...result, result: inState('COMPLETED') } }
    },
  })
  const { code, stdout, stderr } = await run(['send', '@donna', 'x', '--wait', '--url', gateway.url])
  expect([code, stdout]).toEqual([0, expect.stringContaining('completed')])
  expect(stderr.match(/The gateway does not answer; waiting for it/g)).toHaveLength(1)
})

test('send --wait waits longer than the gateway lets a call wait', async () => {
  const states = ['WORKING', 'WORKING', 'COMPLETED']
  const next = () => ({ ...task, status: { state: `TASK_STATE_${states.shift()}` } })
  await using gateway = await startStubGateway({
    'POST /agents/donna': ({ body }: StubRequest) => {
      const { method } = body as { method: string }
      return { json: { jsonrpc: '2.0', id: 1, result: method === 'SendMessage' ? { task: next() } : next() } }
    },
  })
  const { code, stdout } = await run(['send', '@donna', 'x', '--wait', '--url', gateway.url])
  expect([code, stdout]).toEqual([0, expect.stringContaining('completed')])
  expect(gateway.requests.map(({ body }) => (body as { method: string }).method)).toEqual([
    'SendMessage',
    'GetTask',
    'GetTask',
  ])
})

test.each([
  [['yes'], 'yes'],
  [['use', 'the', 'main', 'branch'], 'use the main branch'],
  [['@donna', 'yes'], 'yes'],
  [['donna', 'yes'], 'yes'],
  [['@donna'], '@donna'],
])('send --task finds the agent of the task itself: %j', async (words, text) => {
  await using gateway = await startStubGateway({
    ...answering({ task }),
    'GET /v1/tasks/:id': { json: aTask({ agent: '@donna' }) },
  })
  const { code } = await run(['send', '--task', 't1', ...words, '--url', gateway.url])
  expect(code).toBe(0)
  expect(gateway.last().body).toMatchObject({ params: { message: { taskId: 't1', parts: [{ text }] } } })
})

test('send without an agent and without a task says what to name', async () => {
  const { code, stderr } = await run(['send'])
  expect([code, stderr]).toEqual([2, expect.stringContaining('Name the agent')])
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

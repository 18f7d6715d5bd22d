import { expect, test } from 'vitest'
import { addedArtifact, task } from './answers.ts'
import { startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

const review = task({
  history: [{ messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'Review PR 7\nplease' }] }],
  artifacts: [
    { artifactId: 'a1', name: 'report.md', parts: [{ text: 'fine' }, { data: { ok: true } }] },
    { artifactId: '9cfaec9c-d0b2-4d2e-9d29-8f3ad2a5a1b0', parts: [{ text: 'more' }] },
  ],
})

test('task list filters, and names the next page', async () => {
  await using gateway = await startStubGateway({
    'GET /v1/tasks': { json: { tasks: [review], nextPageToken: 'p2', totalSize: 90 } },
  })
  const argv = ['task', 'list', '--role', 'assignee', '--state', 'working', '--url', gateway.url]
  const { stdout } = await run(argv)
  expect(gateway.last().query).toEqual({ role: 'assignee', state: 'working' })
  expect(stdout).toContain('Review PR 7')
  expect(stdout).not.toContain('please')
  expect(stdout).toContain('1 of 90 shown; more with --page-token p2')
})

test('task show prints messages and artifacts', async () => {
  await using gateway = await startStubGateway({ 'GET /v1/tasks/:id': { json: review } })
  const { stdout } = await run(['task', 'show', 't1', '--url', gateway.url])
  expect(stdout).toContain('state:    working\n')
  expect(stdout).toContain('[user]\nReview PR 7\nplease\n')
  expect(stdout).toContain('[artifact report.md]\nfine\n{"ok":true}\n\n[artifact 2]\nmore\n')
})

test('task show of a question prints the command that answers it', async () => {
  await using gateway = await startStubGateway({ 'GET /v1/tasks/:id': { json: task({ state: 'input-required' }) } })
  const { stdout } = await run(['task', 'show', 't1', '--url', gateway.url])
  expect(stdout).toContain('Answer it: rouse answer t1 "…"\n')
})

test('task move reads the version first and hands in message and artifact', async () => {
  await using gateway = await startStubGateway({
    'GET /v1/tasks/:id': { json: review },
    'POST /v1/tasks/:id/transitions': { json: task({ state: 'completed', version: 8 }) },
  })
  const argv = ['task', 'move', 't1', 'completed', '--message', 'Done', '--artifact-text', 'All well']
  const { stdout } = await run([...argv, '--url', gateway.url])
  expect(stdout).toBe('t1 is completed, version 8.\n')
  expect(gateway.last().body).toEqual({
    to: 'completed',
    expectedVersion: 7,
    message: { parts: [{ text: 'Done' }] },
    artifacts: [{ artifactId: expect.any(String), parts: [{ text: 'All well' }] }],
  })
})

test('task cancel ends a task', async () => {
  await using gateway = await startStubGateway({
    'GET /v1/tasks/:id': { json: review },
    'POST /v1/tasks/:id/transitions': { json: task({ state: 'canceled', version: 8 }) },
  })
  const { stdout } = await run(['task', 'cancel', 't1', '--message', 'no need', '--url', gateway.url])
  expect(gateway.last().body).toEqual({
    to: 'canceled',
    expectedVersion: review.version,
    message: { parts: [{ text: 'no need' }] },
  })
  expect(stdout).toContain('is canceled')
})

test('task move --version does not read', async () => {
  await using gateway = await startStubGateway({ 'POST /v1/tasks/:id/transitions': { json: task() } })
  const { code } = await run(['task', 'move', 't1', 'working', '--version', '3', '--url', gateway.url])
  expect(code).toBe(0)
  expect(gateway.requests).toHaveLength(1)
  expect(gateway.last().body).toEqual({ to: 'working', expectedVersion: 3 })
})

test('task artifact appends to an artifact by its name', async () => {
  await using gateway = await startStubGateway({
    'POST /v1/tasks/:id/artifacts': { status: 201, json: addedArtifact('report.md') },
  })
  const argv = ['task', 'artifact', 't1', '--text', '--more', '--name', 'report.md', '--append', '--last']
  const { code } = await run([...argv, '--url', gateway.url])
  expect(code).toBe(0)
  expect(gateway.last().body).toEqual({
    artifact: { artifactId: 'report.md', name: 'report.md', parts: [{ text: '--more' }] },
    append: true,
    lastChunk: true,
  })
})

// D20, D33
test('task move says how the parties are woken, and what a waiting caller gets', async () => {
  await using gateway = await startStubGateway({ 'POST /v1/tasks/:id/transitions': { json: task() } })
  const argv = ['task', 'move', 't1', 'completed', '--version', '3', '--message', 'Yes']
  const { code } = await run([...argv, '--answer-as', 'message', '--wake-policy', 'silent', '--url', gateway.url])
  expect(code).toBe(0)
  expect(gateway.last().body).toMatchObject({ to: 'completed', answerAs: 'message', wakePolicy: 'silent' })
})

// D18
test('task show says to whom a task was sent that has been handed over', async () => {
  const handed = task({ agent: '@donna', assignee: '@mike' })
  await using gateway = await startStubGateway({ 'GET /v1/tasks/:id': { json: handed } })
  const { stdout } = await run(['task', 'show', 't1', '--url', gateway.url])
  expect(stdout).toMatch(/to: +@mike\nsent to: +@donna\n/)
})

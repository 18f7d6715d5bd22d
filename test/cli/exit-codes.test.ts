import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { exitCodes } from '../../src/client/failure.ts'
import { startGateway } from '../support/gateway.ts'
import { agentPage } from './answers.ts'
import { problem, startStubGateway } from './stub-gateway.ts'
import { run, start } from './terminal.ts'

test('docs/cli.md has the exit codes of the program', () => {
  const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')
  const listed = [...page.matchAll(/^\| (\d+) \| (?!\d)/gm)].map(([, code]) => Number(code))
  expect(listed).toEqual(Object.values(exitCodes))
})

test('without a gateway the error says how to start one', async () => {
  const gone = await startStubGateway({})
  await gone.stop()
  const { code, stdout, stderr } = await run(['agent', 'list', '--url', gone.url])
  expect(code).toBe(3)
  expect(stdout).toBe('')
  expect(stderr).toContain(`No gateway answers at ${gone.url} (ECONNREFUSED)`)
  expect(stderr).toContain('rouse serve')
})

test('an address that speaks something else is named so', async () => {
  await using gateway = await startStubGateway({})
  const https = gateway.url.replace('http:', 'https:')
  const plain = await run(['agent', 'list', '--url', https])
  expect([plain.code, plain.stderr]).toEqual([3, expect.stringContaining(`it speaks no TLS, so try ${gateway.url}`)])
  await using real = await startGateway()
  const { stderr } = await run(['agent', 'list', '--url', `http://${real.grpcTarget}`])
  expect(stderr).toContain('it speaks another protocol. The port of gRPC, for example, is not that of HTTP')
})

test('a refusal is printed as title, code and reason', async () => {
  const refusal = problem(400, 'invalid-request', 'The request is not valid', {
    detail: 'handle: "x y" is not a handle.',
    field: 'handle',
  })
  await using gateway = await startStubGateway({ 'POST /v1/agents': refusal })
  const { code, stdout, stderr } = await run(['agent', 'add', 'x y', '--url', gateway.url])
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(stderr).toBe('error: The request is not valid (invalid-request)\n  <handle>: "x y" is not a handle.\n')
})

test('with --json a refusal is the problem document itself', async () => {
  const refusal = problem(404, 'agent-not-found', 'No such agent', { detail: 'No agent @bob.' })
  await using gateway = await startStubGateway({ 'GET /v1/agents/:handle': refusal })
  const { code, stdout, stderr } = await run(['agent', 'show', '@bob', '--json', '--url', gateway.url])
  expect(code).toBe(1)
  expect(stdout).toBe('')
  expect(JSON.parse(stderr)).toEqual(refusal.json)
})

test('with --json an absent gateway is one JSON line', async () => {
  const gone = await startStubGateway({})
  await gone.stop()
  const { code, stderr } = await run(['--json', 'agent', 'list', '--url', gone.url])
  expect(code).toBe(3)
  expect(JSON.parse(stderr)).toMatchObject({ code: 'unreachable' })
})

test('a refused transition lists what is allowed', async () => {
  const refusal = problem(409, 'invalid-transition', 'The task cannot move to that state', {
    from: 'completed',
    allowed: ['working', 'canceled'],
  })
  await using gateway = await startStubGateway({ 'POST /v1/tasks/:id/transitions': refusal })
  const { code, stderr } = await run(['task', 'move', 't1', 'working', '--version', '4', '--url', gateway.url])
  expect(code).toBe(1)
  expect(stderr).toContain('allowed: working, canceled')
})

test('a 401 without a key says how to get a key', async () => {
  const refusal = problem(401, 'unauthenticated', 'A valid API key is required')
  await using gateway = await startStubGateway({ 'GET /v1/agents': refusal })
  const { code, stderr } = await run(['agent', 'list', '--url', gateway.url])
  expect(code).toBe(1)
  expect(stderr).toContain('ROUSE_KEY')
})

test('an answer of another server is reported as such', async () => {
  await using gateway = await startStubGateway({ 'GET /v1/agents': { text: '<html>' } })
  const { code, stderr } = await run(['agent', 'list', '--url', gateway.url])
  expect(code).toBe(1)
  expect(stderr).toContain('Is a gateway listening there?')
})

test('a redirect is not followed with the key', async () => {
  await using other = await startStubGateway({ 'GET /v1/agents': { json: agentPage() } })
  await using gateway = await startStubGateway({
    'GET /v1/agents': { status: 307, headers: { location: `${other.url}/v1/agents` } },
  })
  const { code } = await run(['agent', 'list', '--url', gateway.url, '--key', 'rk_secret'])
  expect(code).not.toBe(0)
  expect(other.requests).toHaveLength(0)
})

test('Ctrl-C while waiting ends with 130', async () => {
  await using gateway = await startStubGateway({ 'POST /agents/donna': () => void terminal.interrupt() })
  const terminal = start(['send', '@donna', 'hello', '--wait', '--url', gateway.url])
  expect(await terminal.code).toBe(130)
  expect(terminal.stderr()).toBe('')
})

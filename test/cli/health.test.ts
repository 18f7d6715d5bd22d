import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { startStubGateway } from './stub-gateway.ts'
import { run } from './terminal.ts'

test('a gateway that is ready is a silent success', async () => {
  await using gateway = await startGateway()
  expect(await run(['health', gateway.url])).toEqual({ code: 0, stdout: '', stderr: '' })
})

test('with --json it prints the state, and a failure as JSON', async () => {
  await using gateway = await startGateway()
  const { code, stdout, stderr } = await run(['health', gateway.url, '--json'])
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toMatchObject({ url: gateway.url, status: 'ready' })
  const gone = await run(['health', 'http://127.0.0.1:1', '--json'])
  expect([gone.code, gone.stdout, JSON.parse(gone.stderr)]).toEqual([
    1,
    '',
    expect.objectContaining({ code: 'failed' }),
  ])
})

test.each([
  [{ status: 503, json: { status: 'not-ready', store: false, dispatcher: true } }, 'is not ready: store down.'],
  [{ status: 503, json: { status: 'not-ready', store: true, clock: false } }, 'is not ready: its clock is wrong.'],
  [{ status: 502, text: '<html>Bad gateway</html>' }, 'is not ready: it answered 502.'],
  [{ status: 200, text: '<html>Hello</html>' }, 'is not ready: it answered 200.'],
])('a gateway that answers %j fails with 1 and one line', async (answer, line) => {
  await using gateway = await startStubGateway({ 'GET /readyz': answer })
  const { code, stdout, stderr } = await run(['health', gateway.url])
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toBe(`error: ${gateway.url} ${line}\n`)
})

test('without a gateway it fails with 1: a container knows no other failure', async () => {
  const gateway = await startStubGateway({})
  await gateway.stop()
  const { code, stderr } = await run(['health', gateway.url])
  expect(code).toBe(1)
  expect(stderr).toMatch(/^error: No gateway answers at .*ECONNREFUSED.*\n$/)
})

test('it fails when a gateway does not answer in time', async () => {
  await using gateway = await startStubGateway({ 'GET /readyz': () => undefined })
  const { code, stderr } = await run(['health', gateway.url, '--timeout', '1'])
  expect(code).toBe(1)
  expect(stderr).toContain('no answer within 1 s')
})

test.each([
  ['ROUSE_URL', (url: URL) => ({ ROUSE_URL: url.origin, ROUSE_PORT: '1' })],
  ['where this environment listens', (url: URL) => ({ ROUSE_HOST: '0.0.0.0', ROUSE_PORT: url.port })],
])('without an address it calls %s', async (_what, env) => {
  await using gateway = await startStubGateway({ 'GET /readyz': { json: { status: 'ready' } } })
  expect(await run(['health'], env(new URL(gateway.url)))).toMatchObject({ code: 0, stdout: '' })
})

test('a gateway with TLS is found by its own environment, whatever name its certificate has', async () => {
  const file = (name: string) => join(import.meta.dirname, '../faults/self-signed', name)
  const tls = { ROUSE_TLS_CERT: file('certificate.pem'), ROUSE_TLS_KEY: file('key.pem') }
  await using gateway = await startGateway({ env: tls })
  const env = { ...tls, ROUSE_PORT: new URL(gateway.url).port }
  expect(await run(['health'], env)).toEqual({ code: 0, stdout: '', stderr: '' })
  expect((await run(['health', gateway.url])).stderr).toContain('No gateway answers')
})

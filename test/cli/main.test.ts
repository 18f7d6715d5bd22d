import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startGateway } from '../support/gateway.ts'
import { runRouse } from '../support/process-gateway.ts'
import { buildWords, rouseWords } from '../support/program/rouse-words.ts'
import { until } from '../support/until.ts'
import { agentPage } from './answers.ts'
import { startStubGateway } from './stub-gateway.ts'

test('the process ends with the exit code of the command', async () => {
  await using gateway = await startStubGateway({ 'GET /v1/agents': { json: agentPage() } })
  await using list = runRouse(['agent', 'list', '--url', gateway.url], {}, buildWords())
  await using nonsense = runRouse(['nonsense'], {}, buildWords())
  expect(await list.exited).toMatchObject({ code: 0 })
  expect(await nonsense.exited).toMatchObject({ code: 2 })
})

test.runIf(existsSync('/dev/full'))('a command whose output cannot be written says so and exits with 1', async () => {
  await using gateway = await startGateway()
  const env = { PATH: process.env.PATH, ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const unwritten = expect.stringMatching(/^error: The output cannot be written: ENOSPC[^\n]*\n$/)
  for (const command of ['export', 'who', 'agent add mike', 'help all', '--version']) {
    const argv = ['-c', `"$@" ${command} > /dev/full`, 'sh', process.execPath, ...rouseWords()]
    const ended = await promisify(execFile)('sh', argv, { env }).catch((error) => error)
    expect([ended.code, ended.stderr], command).toEqual([1, unwritten])
  }
})

test('a command that reads a pipe waits for one that writes later', async () => {
  await using gateway = await startGateway()
  await gateway.addAgent('donna')
  const env = { PATH: process.env.PATH, ROUSE_URL: gateway.url, ROUSE_KEY: gateway.adminKey }
  const argv = ['-c', '"$@" export | "$@" apply -', 'sh', process.execPath, ...rouseWords()]
  const { stdout } = await promisify(execFile)('sh', argv, { env })
  expect(stdout).toBe('Nothing to change: the gateway has what standard input says (1 entry).\n')
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends a stream with %i', async (signal, code) => {
  await using gateway = await startGateway()
  const { key } = await gateway.addAgent('donna')
  await using rouse = runRouse(['listen'], { ROUSE_URL: gateway.url, ROUSE_KEY: key })
  await until(rouse.output, ({ stdout, stderr }) => (stdout + stderr).includes('Listening to'))
  rouse.kill(signal)
  expect((await rouse.exited).code).toBe(code)
})

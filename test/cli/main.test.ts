import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { agentPage } from './answers.ts'
import { startStubGateway } from './stub-gateway.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

function rouse(argv: string[], onOutput: (text: string, stop: (signal: NodeJS.Signals) => void) => void = () => {}) {
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...argv])
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      printed += chunk
      onOutput(printed, (signal) => child.kill(signal))
    })
  }
  return new Promise<{ code: number | null; printed: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, printed }))
  })
}

test('the process ends with the exit code of the command', async () => {
  await using gateway = await startStubGateway({ 'GET /v1/agents': { json: agentPage() } })
  expect(await rouse(['agent', 'list', '--url', gateway.url])).toMatchObject({ code: 0 })
  expect(await rouse(['nonsense'])).toMatchObject({ code: 2 })
})

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('%s ends a stream with %i', async (signal, code) => {
  const argv = ['listen', '--signing-key', 'whsec_c2VjcmV0']
  const ended = await rouse(argv, (printed, stop) => {
    if (printed.includes('Listening on')) stop(signal)
  })
  expect(ended.code).toBe(code)
})

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { expect, test } from 'vitest'
import { liberalInput } from '../../../src/cli/mcp/liberal-input.ts'
import { startGateway } from '../../support/gateway.ts'
import { rouseWords } from '../../support/program/rouse-words.ts'
import { until } from '../../support/until.ts'

/** Returns the lines that come through of pieces of input, and those that are refused. */
async function through(pieces: readonly (string | Buffer)[]) {
  const refused: string[] = []
  const input = liberalInput((line) => void refused.push(line))
  for (const piece of pieces) input.write(piece)
  input.end()
  const passed = (await input.toArray()).join('')
  return { passed: passed.split('\n').slice(0, -1), refused: refused.map((line) => JSON.parse(line)) }
}

test('lines are read whole, however they come, and each message of a batch is one', async () => {
  const ping = '{"jsonrpc":"2.0","id":1,"method":"é"}'
  const bytes = Buffer.from(`${ping}\n[${ping},${ping}]\r\n\nno JSON\n`)
  const { passed, refused } = await through([bytes.subarray(0, 34), bytes.subarray(34, 35), bytes.subarray(35)])
  expect(passed).toEqual([ping, ping, ping, '', 'no JSON'])
  expect(refused).toEqual([])
})

test('a request that is none is refused with its id, and what has none is left to the library', async () => {
  const { passed, refused } = await through(['{"id":7,"method":"ping"}\n{"method":7}\n{"id":"a"}\n'])
  expect(passed).toEqual(['{"method":7}'])
  expect(refused).toMatchObject([
    { id: 7, error: { code: -32600, message: expect.stringContaining('JSON-RPC 2.0') } },
    { id: 'a', error: { code: -32600 } },
  ])
})

test('rouse mcp answers every request with its id', async () => {
  await using gateway = await startGateway()
  const donna = await gateway.addAgent('donna')
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ROUSE_URL: gateway.url, ROUSE_KEY: donna.key }
  const program = spawn(process.execPath, [...rouseWords(), 'mcp'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
  const answers: { id: unknown; result?: unknown; error?: { code: number } }[] = []
  createInterface(program.stdout).on('line', (line) => void answers.push(JSON.parse(line)))
  const ask = (id: number, method: string, params: unknown, more: object = { jsonrpc: '2.0' }) =>
    program.stdin.write(`${JSON.stringify({ ...more, id, method, params })}\n`)
  ask(1, 'initialize', { protocolVersion: '2025-06-18', capabilities: null })
  ask(2, 'ping', null)
  ask(3, 'tools/call', { name: 'whoami', arguments: null })
  ask(4, 'tools/call', { name: 'read_inbox', arguments: '{"limit":"10","thread":""}' })
  ask(5, 'tools/call', { arguments: {} })
  ask(6, 'logging/setLevel', {})
  ask(7, 'ping', {}, {})
  ask(8, 'tools/list', [1])
  await until(
    () => answers,
    ({ length }) => length === 8,
  )
  const codes = answers.map(({ id, error }): [unknown, number | undefined] => [id, error?.code])
  expect(codes.sort()).toEqual(
    [[1], [2], [3], [4], [5, -32602], [6, -32602], [7, -32600], [8, -32600]].map(([id, code]) => [id, code]),
  )
  const ended = new Promise((resolve) => program.once('exit', resolve))
  program.stdin.end()
  expect(await ended).toBe(0)
})

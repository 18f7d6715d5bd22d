import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { atTestEnd } from '../../../support/ends.ts'
import { rouseWords } from '../../../support/program/rouse-words.ts'
import { until } from '../../../support/until.ts'

const agent = resolve(import.meta.dirname, 'fake-agent.cjs')

/** `rouse bridge acp -- node <agent>`, as an editor starts it. */
function startProxy() {
  const directory = mkdtempSync(join(tmpdir(), 'rouse-acp-'))
  const log = join(directory, 'agent.log')
  const argv = [...rouseWords(), 'bridge', 'acp', '--', process.execPath, agent, '1', log]
  const env = { HOME: directory, PATH: process.env.PATH ?? '' }
  const proxy = spawn(process.execPath, argv, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  let said = ''
  proxy.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  const code = new Promise<number | null>((done) => proxy.once('close', done))
  atTestEnd(async () => {
    proxy.kill('SIGKILL')
    await code
    rmSync(directory, { recursive: true, force: true })
  })
  const say = (line: string) => void proxy.stdin.write(line)
  return { proxy, code, say, said: () => said, read: () => readFileSync(log, 'utf8') }
}

describe('rouse bridge acp, as a process', () => {
  test('stands in place of the agent, and prints nothing of its own', async () => {
    const { proxy, code, say, said, read } = startProxy()
    const question = '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n'
    say(question)
    const answer = '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}\n'
    await until(said, (text) => text.length >= answer.length)
    expect(said()).toBe(answer)
    expect(read()).toBe(question)
    proxy.stdin.end()
    expect(await code).toBe(0)
  })

  test('ends with the code of its agent', async () => {
    const { code, say, said } = startProxy()
    say('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}\n')
    await until(said, (text) => text.includes('"sessionId"'))
    const prompt = { sessionId: 's1', prompt: [{ type: 'text', text: 'die' }] }
    say(`${JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'session/prompt', params: prompt })}\n`)
    expect(await code).toBe(7)
  })
})

import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { runAcpProxy } from '../../../../src/harnesses/generic/acp/acp-proxy.ts'
import type { JsonObject } from '../../../../src/lib/json.ts'
import { atTestEnd } from '../../../support/ends.ts'
import { until } from '../../../support/until.ts'

const agent = resolve(import.meta.dirname, 'fake-agent.cjs')

interface Message extends JsonObject {
  readonly id?: string | number
  readonly method?: string
}

/** An editor that has started the proxy in place of its agent. `env`: where its user's bridge is. */
export function startEditor(env: Record<string, string>, version: 1 | 2 = 1) {
  const directory = mkdtempSync(join(tmpdir(), 'rouse-acp-'))
  const log = join(directory, 'agent.log')
  writeFileSync(log, '')
  const input = new PassThrough()
  const output = new PassThrough()
  const stop = new AbortController()
  const command = [process.execPath, agent, String(version), log]
  const code = runAcpProxy({ command, env, input, output, signal: stop.signal })
  atTestEnd(async () => {
    stop.abort()
    await code
    rmSync(directory, { recursive: true, force: true })
  })
  let text = ''
  output.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  const messages = () =>
    text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Message)
  const say = (message: JsonObject) => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  return {
    code,
    say,
    input,
    messages,
    raw: () => text,
    /** The bytes that the agent has read. */
    agentRead: () => readFileSync(log, 'utf8'),
    agentReadBytes: () => statSync(log).size,
    stop: () => stop.abort(),
    async answerTo(id: number | string): Promise<Message> {
      const is = (message: Message): boolean => message.id === id && message.method === undefined
      await until(messages, (all) => all.some(is))
      return messages().find(is)!
    },
    /** Opens a session; its id is made of that of the request. */
    async open(id = 1, cwd = '/home/donna/project'): Promise<string> {
      say({ id: 0, method: 'initialize', params: { protocolVersion: version } })
      say({ id, method: 'session/new', params: { cwd, mcpServers: [] } })
      await this.answerTo(id)
      return `s${id}`
    },
    prompt: (id: number, sessionId: string, words: string) =>
      say({ id, method: 'session/prompt', params: { sessionId, prompt: [{ type: 'text', text: words }] } }),
  }
}

import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Agent, request } from 'undici'
import { expect, test } from 'vitest'
import { mcpRequest } from '../fronts/mcp/http/call-tool.ts'
import type { ProcessAgent } from '../support/process-client.ts'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'

/** How many requests an agent has in process at the same time while no other agent is active; beside others it has eight. */
const atOnce = 64
/** As many as one key may have wait, and fewer: each is a message of the same task. */
const waiting = 200
const memoryMaxMb = 900
const attackMaxMs = 300_000
/** One character that is not ASCII makes V8 take two bytes for each. */
const textOf = (length: number): string => `${'x'.repeat(length - 1)}…`

const isDone = (status: number): boolean => status === 200 || status === 201

interface Attacker {
  readonly gateway: ProcessGateway
  readonly mallory: ProcessAgent
  /** Sends a request and drops its answer. Returns the status; 0: there was none. */
  readonly ask: (
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    headers?: Record<string, string>,
  ) => Promise<number>
}

type Attack = (attacker: Attacker) => Promise<readonly number[]>

const times = (count: number, act: (index: number) => Promise<number>) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)))

async function largeTasks({ gateway, mallory }: Attacker, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const { id } = await gateway.send(mallory, 'make a lot', undefined, { key: mallory.key })
    for (let index = 0; index < 6; index++) {
      const artifact = { artifactId: `a${index}`, parts: [{ text: textOf(3_900_000) }] }
      expect((await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact }, mallory)).status).toBe(201)
    }
    ids.push(id)
  }
  return ids
}

const callsTool = async (attacker: Attacker, name: string, argsOf: (taskId: string) => Record<string, string>) => {
  const ids = await largeTasks(attacker, 6)
  return times(atOnce, (index) => {
    const { headers, body } = mcpRequest('tools/call', { name, arguments: argsOf(ids[index % ids.length]!) })
    return attacker.ask('POST', '/mcp', body, headers)
  })
}

const lists = async ({ gateway, mallory, ask }: Attacker, path: string) => {
  // Each is just below the size of a task that counts by itself.
  for (let n = 0; n < 26; n++) await gateway.send(mallory, textOf(1_000_000), undefined, { key: mallory.key })
  return times(atOnce, () => ask('GET', path))
}

const attacks: Record<string, Attack> = {
  'lists tasks of a megabyte each': (attacker) => lists(attacker, '/v1/tasks?includeArtifacts=true'),
  'lists such tasks over A2A': (attacker) => lists(attacker, '/agents/mallory/tasks?includeArtifacts=true'),
  'reads large tasks over MCP': (attacker) => callsTool(attacker, 'get_task', (taskId) => ({ taskId })),
  'adds to large tasks over MCP': (attacker) =>
    callsTool(attacker, 'send_task', (taskId) => ({ to: '@mallory', text: 'more', taskId })),
  'has calls wait for one large message': async ({ gateway, mallory, ask }) => {
    const { id } = await gateway.send(mallory, 'answer me', undefined, { key: mallory.key })
    const messageOf = (text: string, fields: object) => ({
      messageId: crypto.randomUUID(),
      parts: [{ text }],
      ...fields,
    })
    const calls = times(waiting, () => {
      const message = messageOf('wait', { taskId: id, role: 'ROLE_USER' })
      return ask('POST', '/agents/mallory/message:send', { message }, { 'A2A-Version': '1.0' })
    })
    const message = messageOf(textOf(3_900_000), { role: 'ROLE_AGENT' })
    const read = () => gateway.call('GET', `/v1/tasks/${id}?historyLength=0`)
    const { body } = await until(read, (answer) => answer.body.messageCount > waiting, 60_000)
    const move = { to: 'completed', answerAs: 'message', expectedVersion: body.version, message }
    expect((await gateway.call('POST', `/v1/tasks/${id}/transitions`, move)).status).toBe(200)
    return calls
  },
  'has large artifacts pushed to receivers that read nothing': async ({ gateway, mallory, ask }) => {
    const deaf = new Set<Socket>()
    let count = 0
    const server = createServer((socket) => {
      count++
      deaf.add(socket.pause().on('error', () => {}))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const artifact = { artifactId: 'a', parts: [{ text: textOf(3_900_000) }] }
    const statuses: number[] = []
    for (let task = 0; task < 7; task++) {
      const { id } = await gateway.send(mallory, 'make a lot', undefined, { key: mallory.key })
      const config = (n: number) => ({ id: `c${n}`, url })
      const path = `/agents/mallory/tasks/${id}/pushNotificationConfigs`
      statuses.push(...(await times(20, (n) => ask('POST', path, config(n), { 'A2A-Version': '1.0' }))))
      const { status } = await gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact }, mallory)
      expect(status).toBe(201)
    }
    // Attempts that end make room for others: each of the first has ended once.
    await until(
      () => count,
      (connections) => connections > 40,
      120_000,
    )
    for (const socket of deaf) socket.destroy()
    server.close()
    return statuses
  },
}

test.each(Object.keys(attacks))(
  'an agent that %s, and is alone, does not use up the memory of the gateway',
  { timeout: attackMaxMs },
  async (name) => {
    await using gateway = await startProcessGateway({ ROUSE_LOG_LEVEL: 'error' })
    const limits = { requestsPerMinute: 0, megabytesPerMinute: 0 }
    expect((await gateway.call('PATCH', '/v1/projects/default', { limits })).status).toBe(200)
    const mallory = await gateway.addAgent('@mallory')
    await using dispatcher = new Client(gateway.url, mallory.key)
    const statuses = await attacks[name]!({ gateway, mallory, ask: (...asked) => dispatcher.ask(...asked) })
    const peak = peakMb(gateway.pid)
    console.log(`${name}: ${peak} MB; ${statuses.filter(isDone).length} of ${statuses.length} answered`)
    expect(statuses.filter((status) => !isDone(status) && status !== 429)).toEqual([])
    expect(peak).toBeLessThan(memoryMaxMb)
    expect((await gateway.kill('SIGTERM')).code).toBe(0)
  },
)

/** As many connections as it asks for. */
class Client implements AsyncDisposable {
  readonly #dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, pipelining: 1 })
  readonly #url: string
  readonly #key: string

  constructor(url: string, key: string) {
    this.#url = url
    this.#key = key
  }

  async ask(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<number> {
    try {
      const answer = await request(this.#url + path, {
        dispatcher: this.#dispatcher,
        method,
        headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      })
      // What is dumped beyond a bound ends the connection.
      for await (const _chunk of answer.body);
      return answer.statusCode
    } catch {
      return 0
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#dispatcher.close()
  }
}

/** The most memory that the process has held. */
function peakMb(pid: number): number {
  return Math.round(Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024)
}

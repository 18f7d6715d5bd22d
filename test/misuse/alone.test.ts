import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Agent, request } from 'undici'
import { expect, test } from 'vitest'
import { mcpRequest } from '../fronts/mcp/http/call-tool.ts'
import type { ProcessAgent } from '../support/process-client.ts'
import { type ProcessGateway, startProcessGateway } from '../support/process-gateway.ts'
import { until } from '../support/until.ts'
import { peakMb } from './peak-memory.ts'

const memoryMaxMb = 512
const attackMaxMs = 300_000
/** Requests that are sent at once: eight are worked on, and as many as these may wait. */
const atOnce = 200
/** The largest text of a body. A character that is not ASCII makes V8 take two bytes for each. */
const large = `${'x'.repeat(1_000_000)}…`

type Answer = Promise<number>

/** One agent, which nothing but the limits of what it may have at once holds back. */
interface Attacker {
  readonly gateway: ProcessGateway
  readonly mallory: ProcessAgent
  /** Sends a request and drops its answer. Returns the status; 0: there was none. */
  readonly ask: (method: 'GET' | 'POST', path: string, body?: object, more?: Record<string, string>) => Answer
}

const times = (count: number, act: (index: number) => Answer) =>
  Promise.all(Array.from({ length: count }, (_, index) => act(index)))

const a2a = { 'A2A-Version': '1.0' }
const artifact = (artifactId: string) => ({ artifact: { artifactId, parts: [{ text: large }] } })

const attacks: Record<string, (attacker: Attacker) => Promise<readonly number[]>> = {
  'lists tasks of a megabyte each': async ({ gateway, mallory, ask }) => {
    for (let n = 0; n < 26; n++) await gateway.send(mallory, large.slice(1_000), undefined, { key: mallory.key })
    const paths = ['/v1/tasks?includeArtifacts=true&historyLength=100', '/agents/mallory/tasks?historyLength=100']
    return times(atOnce, (index) => ask('GET', paths[index % 2]!, undefined, a2a))
  },
  'reads a large task': async ({ gateway, mallory, ask }) => {
    const { id } = await gateway.send(mallory, 'make a lot', undefined, { key: mallory.key })
    for (let n = 0; n < 24; n++) {
      expect((await gateway.call('POST', `/v1/tasks/${id}/artifacts`, artifact(`a${n}`), mallory)).status).toBe(201)
    }
    const { headers, body } = mcpRequest('tools/call', { name: 'get_task', arguments: { taskId: id } })
    return times(atOnce, (index) =>
      index % 2 ? ask('GET', `/agents/mallory/tasks/${id}`, undefined, a2a) : ask('POST', '/mcp', body, headers),
    )
  },
  'has calls wait for one large message': async ({ gateway, mallory, ask }) => {
    const { id } = await gateway.send(mallory, 'answer me', undefined, { key: mallory.key })
    const messageOf = (text: string, fields: object) => ({
      message: { messageId: crypto.randomUUID(), parts: [{ text }], ...fields },
    })
    const calls = times(atOnce, () =>
      ask('POST', '/agents/mallory/message:send', messageOf('wait', { taskId: id, role: 'ROLE_USER' }), a2a),
    )
    const read = () => gateway.call('GET', `/v1/tasks/${id}?historyLength=0`)
    const { body } = await until(read, (answer) => answer.body.messageCount > atOnce, 60_000)
    const answer = { ...messageOf(large.slice(1_000), { role: 'ROLE_AGENT' }), answerAs: 'message' }
    const move = { to: 'completed', expectedVersion: body.version, ...answer }
    expect((await gateway.call('POST', `/v1/tasks/${id}/transitions`, move)).status).toBe(200)
    return calls
  },
  'has large artifacts pushed to receivers that read nothing': async ({ gateway, mallory, ask }) => {
    const deaf = new Set<Socket>()
    const server = createServer((socket) => deaf.add(socket.pause().on('error', () => {})))
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const statuses: number[] = []
    for (let task = 0; task < 7; task++) {
      const { id } = await gateway.send(mallory, 'make a lot', undefined, { key: mallory.key })
      const path = `/agents/mallory/tasks/${id}/pushNotificationConfigs`
      statuses.push(...(await times(20, (n) => ask('POST', path, { id: `c${n}`, url }, a2a))))
      statuses.push(await ask('POST', `/v1/tasks/${id}/artifacts`, artifact('a')))
    }
    // Attempts that end make room for others: each of the first has ended once.
    await until(
      () => deaf.size,
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
    const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, pipelining: 1 })
    const ask: Attacker['ask'] = async (method, path, body, more) => {
      const headers = { authorization: `Bearer ${mallory.key}`, 'content-type': 'application/json', ...more }
      const options = { dispatcher, method, headers, ...(body && { body: JSON.stringify(body) }) }
      const answer = await request(gateway.url + path, options).catch(() => undefined)
      await answer?.body.arrayBuffer()
      return answer?.statusCode ?? 0
    }
    const statuses = await attacks[name]!({ gateway, mallory, ask })
    await dispatcher.close()
    const peak = peakMb(gateway.pid)
    console.log(`${name}: ${peak} MB, answers ${[...new Set(statuses)]}`)
    // A request that waits too long is refused, and on a busy machine also one that comes while the loop is late.
    expect(statuses.filter((status) => ![200, 201, 429, 503].includes(status))).toEqual([])
    expect(peak).toBeLessThanOrEqual(memoryMaxMb)
    expect((await gateway.kill('SIGTERM')).code).toBe(0)
  },
)

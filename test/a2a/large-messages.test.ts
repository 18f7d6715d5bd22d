import { request } from 'node:http'
import { SendMessageRequest, SendMessageResponse } from '@a2a-js/sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { inputLimits } from '../../src/limits.ts'
import { bearer, rawClient } from '../grpc/raw-client.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { Iterations } from '../support/iterations.ts'
import { until } from '../support/until.ts'
import { sending } from './wire.ts'

let gateway: TestGateway
let lucy: TestAgent
let client: ReturnType<typeof rawClient>

beforeEach(async () => {
  gateway = await startGateway({ overrides: { clock: new FakeClock() } })
  await liftRates(gateway)
  await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
  client = rawClient(gateway.grpcTarget)
})

afterEach(async () => {
  client[Symbol.dispose]()
  await gateway[Symbol.asyncDispose]()
})

const version = { 'A2A-Version': '1.0' }
/** An answer with the task, or with the refusal. */
type Way = (body: JsonObject, sent?: Record<string, string>) => Promise<JsonObject>

const overHttp = async (path: string, body: object, sent: Record<string, string> = {}) =>
  (await gateway.call('POST', path, body, { key: lucy.key, headers: { ...version, ...sent } })).body
const ways: Record<string, Way> = {
  'JSON-RPC': async (params, sent) => {
    const body = await overHttp('/agents/donna', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }, sent)
    return body.result?.task ?? body.error
  },
  'HTTP+JSON': async (params, sent) => {
    const body = await overHttp('/agents/donna/message:send', params, sent)
    return body.task ?? body.error
  },
  gRPC: async (params, sent) => {
    const message = SendMessageRequest.fromJSON({ tenant: 'agents/donna', ...params })
    const answer = await client.unary('sendMessage', message, bearer(lucy.key, sent))
    if (!('value' in answer)) return { message: answer.details }
    return (SendMessageResponse.toJSON(answer.value as never) as { task: JsonObject }).task
  },
}

const contents: Record<string, JsonObject> = {
  'a text': { text: `${'x'.repeat(300_000)}é😀ж"\n${'\\'.repeat(300_000)}` },
  'very many values': {
    data: { list: Array.from({ length: 30_000 }, (_, index) => (index % 2 ? `v${index}` : index)) },
  },
  'very many fields': {
    data: Object.fromEntries(Array.from({ length: 25_000 }, (_, index) => [`key ${index}`, index])),
  },
  bytes: { raw: Buffer.alloc(700_000, 'bytes').toString('base64') },
}

describe.each(Object.keys(ways))('over %s', (way) => {
  test.each(Object.keys(contents))('a large message with %s is answered, and stored, as it was sent', async (name) => {
    const part = contents[name]!
    const sent = sending({ messageId: 'm-1', contextId: 'c-1', parts: [{ text: 'see' }, part], metadata: { a: 1 } })
    const task = await ways[way]!({ ...sent, configuration: { returnImmediately: true } })
    const expected = { messageId: 'm-1', contextId: 'c-1', taskId: task.id, role: 'ROLE_USER', metadata: { a: 1 } }
    const [answered] = task.history as JsonObject[]
    expect(answered).toMatchObject(expected)
    expect(answered!.parts).toEqual([{ text: 'see' }, part])
    const { body } = await gateway.call('GET', `/v1/tasks/${task.id}`)
    expect(body.history).toEqual([{ ...expected, parts: [{ text: 'see' }, part] }])
  })

  test('a large message that is nested too deeply is refused as a small one is', async () => {
    const deep = JSON.parse(`${'{"a":'.repeat(40)}1${'}'.repeat(40)}`)
    const send = (text: string) => ways[way]!(sending({ parts: [{ text }, { data: deep }] }))
    const [small, large] = [await send('small'), await send('x'.repeat(600_000))]
    expect(small.message).toContain(`more than ${inputLimits.contentDepth.max} levels`)
    expect(large).toEqual(small)
    expect((await gateway.call('GET', '/v1/tasks')).body.totalSize).toBe(0)
  })
})

test.each(['a text', 'bytes'])(
  'a large message with %s that comes again is one task, whatever the binding',
  async (name) => {
    const again = { 'idempotency-key': 'k-1' }
    const params = (part: JsonObject) => ({
      ...sending({ messageId: 'm-1', parts: [part] }),
      configuration: { returnImmediately: true },
    })
    const tasks = []
    for (const way of Object.values(ways)) tasks.push((await way(params(contents[name]!), again)).id)
    expect(new Set(tasks).size).toBe(1)
    const other = await ways['HTTP+JSON']!(params({ raw: Buffer.alloc(700_000, 'other').toString('base64') }), again)
    expect(other.message).toMatch(/idempotency-key/i)
  },
)

test('numbers that JSON cannot hold are answered as they are stored', async () => {
  const text = JSON.stringify({
    ...sending({ parts: [{ text: 'x'.repeat(600_000) }, { data: { n: 'N' } }] }),
    configuration: { returnImmediately: true },
  })
  const answer = await fetch(`${gateway.url}/agents/donna/message:send`, {
    method: 'POST',
    headers: { authorization: `Bearer ${lucy.key}`, 'content-type': 'application/json', ...version },
    body: text.replace('"N"', '[-0, 1e999]'),
  })
  const { task } = (await answer.json()) as { task: { id: string; history: { parts: unknown[] }[] } }
  expect(task.history[0]!.parts[1]).toEqual({ data: { n: [0, null] } })
  expect((await gateway.call('GET', `/v1/tasks/${task.id}`)).body.history[0].parts[1]).toEqual({
    data: { n: [0, null] },
  })
})

describe('a client that goes away while its large message is worked on leaves nothing behind', () => {
  /** Together more than one agent may have in memory. */
  const goneAfter = [0, 1, 4, 16, 40, 80]
  const large = sending({ parts: [{ text: 'x'.repeat(15_500_000) }] })
  const iterations = async (count: number) => {
    using passed = new Iterations()
    await until(
      () => passed.count,
      (now) => now >= count,
    )
  }
  const sendsAgain = async () => {
    const task = await ways['HTTP+JSON']!({ ...large, configuration: { returnImmediately: true } })
    expect(task).toMatchObject({ status: { state: 'TASK_STATE_SUBMITTED' } })
  }

  test('over HTTP', async () => {
    const body = JSON.stringify(large)
    for (const count of goneAfter) {
      const headers = { authorization: `Bearer ${lucy.key}`, 'content-type': 'application/json', ...version }
      const req = request(`${gateway.url}/agents/donna/message:send`, { method: 'POST', agent: false, headers })
      req.on('error', () => {})
      await new Promise<void>((written) => req.end(body, written))
      await iterations(count)
      req.destroy()
    }
    await sendsAgain()
  })

  test('over gRPC', async () => {
    const message = SendMessageRequest.fromJSON({ tenant: 'agents/donna', ...large })
    for (const count of goneAfter) {
      const call = client.stream('sendStreamingMessage', message, bearer(lucy.key))
      const ended = new Promise((resolve) => call.once('error', resolve).resume())
      await iterations(count * 4)
      call.cancel()
      await ended
    }
    await sendsAgain()
  })
})

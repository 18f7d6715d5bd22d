import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  await liftRates(gateway)
  donna = await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
})

afterAll(() => gateway[Symbol.asyncDispose]())

const senders = {
  JSONRPC: (params: JsonObject, headers: Record<string, string>, key = lucy.key) =>
    gateway.call('POST', '/agents/donna', { jsonrpc: '2.0', id: 1, method: 'SendMessage', params }, { key, headers }),
  'HTTP+JSON': (params: JsonObject, headers: Record<string, string>, key = lucy.key) =>
    gateway.call('POST', '/agents/donna/message:send', params, { key, headers }),
}

function request(text = 'hello', messageId: string = crypto.randomUUID()) {
  return {
    message: { messageId, role: 'ROLE_USER', parts: [{ text }] },
    configuration: { returnImmediately: true },
  }
}

function replyTo(taskId: string): JsonObject {
  const params = request('reply')
  return { ...params, message: { ...params.message, taskId } }
}

const read = async (taskId: string) => (await gateway.call('GET', `/v1/tasks/${taskId}`, undefined, lucy)).body

describe.each(['JSONRPC', 'HTTP+JSON'] as const)('Idempotency-Key over %s', (binding) => {
  const send = async (params: JsonObject, key?: string, apiKey?: string) => {
    const headers = { 'A2A-Version': '1.0', ...(key === undefined ? {} : { 'Idempotency-Key': key }) }
    const { status, body } = await senders[binding](params, headers, apiKey)
    return { status, task: (body.result ?? body).task, error: body.error }
  }

  test('the same key and body answer the first task as it is now', async () => {
    const key = crypto.randomUUID()
    const params = request()
    const first = await send(params, key)
    await gateway.move(donna, first.task.id, 'working')
    const second = await send(params, key)
    expect(second.task).toMatchObject({ id: first.task.id, status: { state: 'TASK_STATE_WORKING' } })
  })

  test('the same key with another body is refused with the name of the header', async () => {
    const key = crypto.randomUUID()
    await send(request('one'), key)
    const { status, error } = await send(request('two'), key)
    expect(error.message).toMatch(/^Idempotency-Key: /)
    expect([status, error.code]).toEqual(binding === 'JSONRPC' ? [200, -32602] : [400, 400])
  })

  test('without the header the same messageId makes two tasks', async () => {
    const params = request()
    expect((await send(params)).task.id).not.toBe((await send(params)).task.id)
  })

  test('a key is the caller’s own', async () => {
    const key = crypto.randomUUID()
    const params = request()
    expect((await send(params, key)).task.id).not.toBe((await send(params, key, donna.key)).task.id)
  })

  test('twenty at once make one task', async () => {
    const key = crypto.randomUUID()
    const params = request()
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(params, key)))
    expect(new Set(answers.map(({ task }) => task.id)).size).toBe(1)
  })

  test('a repeat of a reply does not add it twice', async () => {
    const { task } = await send(request())
    const reply = request('once')
    const params = { ...reply, message: { ...reply.message, taskId: task.id } }
    const key = crypto.randomUUID()
    await send(params, key)
    expect((await send(params, key)).task.history).toHaveLength(2)
  })

  test('whatever is sent and repeated in between, each key has acted once', async () => {
    const { task } = await send(request('first'))
    const params = new Map<string, JsonObject>()
    const tries = fc.array(fc.oneof(fc.nat(3), fc.constantFrom('working' as const, 'input-required' as const)), {
      minLength: 1,
      maxLength: 10,
    })
    await fc.assert(
      fc.asyncProperty(tries, async (steps) => {
        const run = crypto.randomUUID()
        for (const step of steps) {
          if (typeof step === 'string') {
            await gateway.move(donna, task.id, step)
            continue
          }
          const key = `${run}-${step}`
          const reply = params.get(key) ?? replyTo(task.id)
          const isRepeat = params.has(key)
          params.set(key, reply)
          const before = await read(task.id)
          expect((await send(reply, key)).task.id).toBe(task.id)
          const after = await read(task.id)
          if (isRepeat) expect(after).toEqual(before)
          else expect([after.version, after.messageCount]).toEqual([before.version + 1, before.messageCount + 1])
        }
      }),
      { numRuns: 10 },
    )
  })

  test('a key that is too long is refused', async () => {
    const { error } = await send(request(), 'k'.repeat(501))
    expect(error.message).toMatch(/Idempotency-Key: send 1 to 500/)
  })
})

import type { Client } from '@a2a-js/sdk/client'
import { RequestMalformedError, TaskNotFoundError } from '@a2a-js/sdk/errors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { spawnHarness } from '../support/spawn-harness.ts'
import {
  atOnce,
  collect,
  connect,
  dialects,
  isLegacyProto,
  saying,
  sendForTask,
  stateOf,
  tell,
  textOf,
} from './connect.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent
let mallory: TestAgent
let harness: AsyncDisposable

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
  mallory = await gateway.addAgent('mallory')
  harness = await spawnHarness(gateway, donna)
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

describe.each(dialects)('a conversation, A2A $version over $binding', (dialect) => {
  let client: Client

  beforeAll(async () => {
    client = await connect(gateway, donna, lucy.key, dialect)
  })

  test('a question is answered within the task, which then continues', async () => {
    const question = await sendForTask(client, saying('ask'))
    expect([stateOf(question), textOf(question.status?.message?.parts)]).toEqual(['input-required', 'Which colour?'])
    const { id: taskId, contextId } = question
    const done = await sendForTask(client, saying('blue', { taskId, contextId }))
    expect([done.id, stateOf(done), textOf(done.artifacts[0]?.parts)]).toEqual([taskId, 'completed', 'You said blue.'])
    expect(done.history.map(({ parts }) => textOf(parts))).toEqual(['ask', 'Which colour?', 'blue'])
  })

  test('the stream of a message ends at the question; the reply opens the next one', async () => {
    const first = client.sendMessageStream(saying('ask'))
    const start = (await first.next()).value
    expect(await collect(first)).toEqual(['status input-required'])
    const taskId = start?.payload?.$case === 'task' ? start.payload.value.id : ''
    const received = await collect(client.sendMessageStream(saying('red', { taskId })))
    expect(received).toEqual(['task submitted', 'artifact You said red.', 'status completed'])
  })

  test('auth-required settles a blocking send and not a stream', async () => {
    const stopped = await sendForTask(client, saying('auth'))
    expect([stateOf(stopped), textOf(stopped.status?.message?.parts)]).toEqual(['auth-required', 'Please sign in.'])
    const done = await sendForTask(client, saying('code 42', { taskId: stopped.id }))
    expect([stateOf(done), textOf(done.status?.message?.parts)]).toEqual(['completed', 'Signed in with code 42.'])

    const received: string[] = []
    for await (const event of client.sendMessageStream(saying('auth'))) {
      received.push(tell(event))
      if (event.payload?.$case !== 'statusUpdate' || received.at(-1) !== 'status auth-required') continue
      await client.sendMessage(saying('code 43', { taskId: event.payload.value.taskId }, atOnce))
    }
    expect(received).toEqual(['task submitted', 'status auth-required', 'status submitted', 'status completed'])
  })

  test('a given contextId is kept, a missing one is made, and a task keeps its contextId', async () => {
    const given = await sendForTask(client, saying('idle', { contextId: `trip-${dialect.version}` }, atOnce))
    expect(given.contextId).toBe(`trip-${dialect.version}`)
    const made = await sendForTask(client, saying('idle', {}, atOnce))
    expect(made.contextId).not.toBe(given.contextId)
    expect(made.contextId).toBeTruthy()
    const inferred = await sendForTask(client, saying('more', { taskId: made.id }, atOnce))
    expect([inferred.id, inferred.contextId]).toEqual([made.id, made.contextId])
    const mismatch = client.sendMessage(saying('more', { taskId: made.id, contextId: given.contextId }, atOnce))
    await expect(mismatch).rejects.toThrow(RequestMalformedError)
    await expect(mismatch).rejects.toThrow(/message\.contextId/)
  })

  test('another message to a task that is being worked joins its history', async () => {
    const { id: taskId } = await sendForTask(client, saying('idle', {}, atOnce))
    await gateway.move(donna, taskId, 'working')
    const task = await sendForTask(client, saying('and hurry', { taskId }, atOnce))
    expect(stateOf(task)).toBe('working')
    expect(task.history.map(({ parts }) => textOf(parts))).toEqual(['idle', 'and hurry'])
  })

  test.skipIf(isLegacyProto(dialect))('a message may refer only to tasks that its sender can see', async () => {
    const own = await sendForTask(client, saying('idle', {}, atOnce))
    const next = await sendForTask(client, saying('idle', { referenceTaskIds: [own.id] }, atOnce))
    expect(next.history[0]?.referenceTaskIds).toEqual([own.id])
    const theirs = await connect(gateway, donna, mallory.key, dialect)
    const foreign = theirs.sendMessage(saying('idle', { referenceTaskIds: [own.id] }, atOnce))
    await expect(foreign).rejects.toThrow(TaskNotFoundError)
    await expect(foreign).rejects.toThrow(/referenceTaskIds/)
  })

  test('text, data, raw bytes, URLs and metadata arrive as they were sent', async () => {
    const parts = [
      { text: 'idle', mediaType: 'text/markdown' },
      { data: { rows: [1, 2, { deep: null }] }, mediaType: 'application/json' },
      {
        raw: Buffer.from([0, 1, 254, 255]).toString('base64'),
        filename: 'a.bin',
        mediaType: 'application/octet-stream',
      },
      { url: 'https://example.com/b.png', filename: 'b.png', mediaType: 'image/png' },
    ]
    const { id } = await sendForTask(client, saying('', { parts, metadata: { trace: 'x' } }, atOnce))
    const { body } = await gateway.call('GET', `/v1/tasks/${id}`, undefined, { key: donna.key })
    const [message] = body.history
    expect(message.metadata).toEqual({ trace: 'x' })
    expect(
      message.parts.map(({ text, data, raw, url }: Record<string, unknown>) => text ?? data ?? raw ?? url),
    ).toEqual(['idle', { rows: [1, 2, { deep: null }] }, 'AAH+/w==', 'https://example.com/b.png'])
  })
})

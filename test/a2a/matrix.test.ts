import { TaskState } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors'
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
let harness: AsyncDisposable

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna', { displayName: 'Donna' })
  lucy = await gateway.addAgent('lucy')
  harness = await spawnHarness(gateway, donna)
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

describe.each(dialects)('A2A $version over $binding', (dialect) => {
  let client: Client

  beforeAll(async () => {
    client = await connect(gateway, donna, lucy.key, dialect)
  })

  test('the client finds the card below the address and uses the requested version and binding', async () => {
    expect([client.protocolVersion, client.transport.protocolName]).toEqual([dialect.version, dialect.binding])
  })

  test('the extended card shows aliases and access to callers of the project', async () => {
    const card = await client.getAgentCard()
    expect(card).toMatchObject({ name: 'Donna', capabilities: { extendedAgentCard: true, streaming: true } })
    const [extension] = card.capabilities!.extensions
    expect(extension).toMatchObject({ params: { handle: '@donna', access: 'project' } })
  })

  test('a blocking send answers the finished task with artifacts, history and status', async () => {
    const task = await sendForTask(client, saying('work please'))
    expect(stateOf(task)).toBe('completed')
    expect(textOf(task.status?.message?.parts)).toBe('Done.')
    expect(task.artifacts.map(({ artifactId, name }) => [artifactId, name])).toEqual([['report', 'report']])
    expect(textOf(task.artifacts[0]!.parts)).toBe('one two')
    expect(task.history.map(({ parts }) => textOf(parts))).toEqual(['work please', 'On it.'])
    expect(task.id && task.contextId).toBeTruthy()
  })

  test('returnImmediately returns before the task is worked on', async () => {
    const task = await sendForTask(client, saying('nobody reacts to this', {}, atOnce))
    expect(stateOf(task)).toBe('submitted')
    expect(stateOf(await client.getTask({ tenant: '', id: task.id }))).toBe('submitted')
  })

  test('a stream starts with the task, brings artifacts in pieces and ends with it', async () => {
    expect(await collect(client.sendMessageStream(saying('work and tell me')))).toEqual([
      'task submitted',
      'status working',
      'artifact one ',
      'artifact two',
      'status completed',
    ])
  })

  // The SDK's v0.3 clients of the protobuf drop `append` from what they read.
  test.skipIf(isLegacyProto(dialect))(
    'pieces of an artifact say whether they append and which is the last',
    async () => {
      const pieces: unknown[] = []
      for await (const { payload } of client.sendMessageStream(saying('work in pieces'))) {
        if (payload?.$case !== 'artifactUpdate') continue
        const { artifact, append, lastChunk } = payload.value
        pieces.push([artifact?.artifactId, append, lastChunk])
      }
      expect(pieces).toEqual([
        ['report', false, false],
        ['report', true, true],
      ])
    },
  )

  test.each([
    ['fail', 'failed', 'It broke.'],
    ['reject', 'rejected', 'Not my work.'],
  ])('a task that the harness has to %s ends as %s with its words', async (text, state, words) => {
    const task = await sendForTask(client, saying(text))
    expect([stateOf(task), textOf(task.status?.message?.parts)]).toEqual([state, words])
  })

  test('historyLength 0 leaves the history out, 1 keeps the newest, unset keeps it all', async () => {
    const { id } = await sendForTask(client, saying('work with history'))
    const historyOf = async (historyLength?: number) =>
      (await client.getTask({ tenant: '', id, historyLength })).history.map(({ parts }) => textOf(parts))
    const all = ['work with history', 'On it.']
    // In v0.3's protobuf unset is 0, and 0 is no limit.
    expect(await historyOf(0)).toEqual(dialect.version === '0.3' && dialect.binding === 'GRPC' ? all : [])
    expect(await historyOf(1)).toEqual(['On it.'])
    expect(await historyOf()).toEqual(all)
  })

  test.skipIf(isLegacyProto(dialect))('historyLength of a send counts too', async () => {
    const task = await sendForTask(client, saying('work without history', {}, { historyLength: 0 }))
    expect(task.history).toEqual([])
  })

  test('a canceled task is canceled; twice is refused', async () => {
    const { id } = await sendForTask(client, saying('slow one', {}, atOnce))
    const canceled = await client.cancelTask({ tenant: '', id, metadata: {} })
    expect(stateOf(canceled)).toBe('canceled')
    await expect(client.cancelTask({ tenant: '', id, metadata: {} })).rejects.toThrow(TaskNotCancelableError)
  })

  test('canceling ends the stream of a task that is being worked', async () => {
    const received: string[] = []
    for await (const event of client.sendMessageStream(saying('slow stream'))) {
      received.push(tell(event))
      if (event.payload?.$case !== 'statusUpdate') continue
      if (event.payload.value.status?.state !== TaskState.TASK_STATE_WORKING) continue
      await client.cancelTask({ tenant: '', id: event.payload.value.taskId, metadata: {} })
    }
    expect(received).toEqual(['task submitted', 'status working', 'status canceled'])
  })

  test('tasks that do not exist are not found', async () => {
    await expect(client.getTask({ tenant: '', id: 'nope' })).rejects.toThrow(TaskNotFoundError)
    await expect(client.cancelTask({ tenant: '', id: 'nope', metadata: {} })).rejects.toThrow(TaskNotFoundError)
    await expect(client.sendMessage(saying('hello', { taskId: 'nope' }))).rejects.toThrow(TaskNotFoundError)
  })

  test('a finished task refuses messages, and the error says how to continue', async () => {
    const { id, contextId } = await sendForTask(client, saying('work once'))
    const again = client.sendMessage(saying('more', { taskId: id }))
    await expect(again).rejects.toThrow(UnsupportedOperationError)
    await expect(again).rejects.toThrow(contextId)
  })

  test('a finished task cannot be subscribed to', async () => {
    const { id } = await sendForTask(client, saying('work to its end'))
    const stream = client.resubscribeTask({ tenant: '', id })
    await expect(stream.next()).rejects.toThrow(/completed/)
  })
})

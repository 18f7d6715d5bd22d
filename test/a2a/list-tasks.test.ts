import { ListTasksRequest, type ListTasksResponse, TaskState } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { JsonObject } from '../../src/lib/json.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { connect, current, dialects, stateOf } from './connect.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent
let mallory: TestAgent
const ids: string[] = []

/** Seven tasks of lucy's, oldest first: three in one context, one completed with an artifact, one working; one of mallory's. */
beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
  mallory = await gateway.addAgent('mallory')
  for (let index = 0; index < 7; index += 1) {
    const message = index < 3 ? { contextId: 'trip' } : {}
    ids.push((await gateway.send('donna', `task ${index}`, { key: lucy.key, message })).id)
  }
  await gateway.send('donna', 'not lucy’s', { key: mallory.key })
  await gateway.send('mallory', 'not donna’s', { key: lucy.key })
  await gateway.move(donna, ids[5]!, 'working')
  await gateway.move(donna, ids[6]!, 'completed', { artifacts: [{ name: 'report', parts: [{ text: 'x' }] }] })
})

afterAll(() => gateway[Symbol.asyncDispose]())

const badInstants = ['yesterday', '-1', '2026-04-26'].map((statusTimestampAfter): [JsonObject, RegExp] => [
  { statusTimestampAfter },
  /statusTimestampAfter/,
])

describe.each(current)('ListTasks over $binding', (dialect) => {
  let client: Client

  beforeAll(async () => {
    client = await connect(gateway, donna, lucy.key, dialect)
  })

  const list = (fields: JsonObject = {}): Promise<ListTasksResponse> =>
    client.listTasks(ListTasksRequest.fromJSON(fields))
  const idsOf = ({ tasks }: ListTasksResponse) => tasks.map(({ id }) => id)

  test('answers the caller’s tasks with this agent, the newest status first', async () => {
    const page = await list()
    expect(idsOf(page).toSorted()).toEqual(ids.toSorted())
    const times = page.tasks.map(({ status }) => status?.timestamp ?? '')
    expect(times).toEqual(times.toSorted().reverse())
    expect(page).toMatchObject({ totalSize: 7, pageSize: 50, nextPageToken: '' })
  })

  test('pages to the end without a duplicate', async () => {
    const seen: string[] = []
    const sizes: number[] = []
    let pageToken = ''
    do {
      const page = await list({ pageSize: 3, pageToken })
      expect([page.totalSize, page.pageSize]).toEqual([7, 3])
      sizes.push(page.tasks.length)
      seen.push(...idsOf(page))
      pageToken = page.nextPageToken
    } while (pageToken)
    expect(sizes).toEqual([3, 3, 1])
    expect(seen).toEqual(idsOf(await list()))
  })

  test('a last page that is full has no next one', async () => {
    expect((await list({ pageSize: 7 })).nextPageToken).toBe('')
  })

  test('filters by context', async () => {
    const page = await list({ contextId: 'trip' })
    expect([idsOf(page).toSorted(), page.totalSize]).toEqual([ids.slice(0, 3).toSorted(), 3])
  })

  test('filters by status', async () => {
    const page = await list({ status: 'TASK_STATE_WORKING' })
    expect([idsOf(page), page.tasks.map(stateOf)]).toEqual([[ids[5]], ['working']])
    expect(idsOf(await list({ status: TaskState.TASK_STATE_COMPLETED, contextId: 'trip' }))).toEqual([])
  })

  test('filters by the time of the status, that instant included', async () => {
    const { tasks } = await list({ status: 'TASK_STATE_COMPLETED' })
    const statusTimestampAfter = tasks[0]!.status!.timestamp
    expect(idsOf(await list({ statusTimestampAfter }))).toContain(ids[6])
    expect(idsOf(await list({ statusTimestampAfter: '2999-01-01T00:00:00Z' }))).toEqual([])
  })

  test('returns artifacts only on request, and history of the requested length', async () => {
    const completed = { status: 'TASK_STATE_COMPLETED' }
    expect((await list(completed)).tasks[0]?.artifacts).toEqual([])
    expect((await list({ ...completed, includeArtifacts: true })).tasks[0]?.artifacts[0]?.name).toBe('report')
    expect((await list({ ...completed, historyLength: 0 })).tasks[0]?.history).toEqual([])
    expect((await list(completed)).tasks[0]?.history).toHaveLength(1)
  })

  test('the assignee and the operator see the tasks of every originator', async () => {
    for (const key of [donna.key, gateway.adminKey]) {
      const other = await connect(gateway, donna, key, dialect)
      expect((await other.listTasks(ListTasksRequest.fromJSON({}))).totalSize).toBe(8)
    }
  })

  test.each<[JsonObject, RegExp]>([
    [{ pageSize: 0 }, /pageSize/],
    [{ pageSize: 101 }, /pageSize/],
    [{ pageToken: 'zzz' }, /pageToken/],
    [{ historyLength: -1 }, /historyLength/],
    // In protobuf an instant cannot be anything else.
    ...(dialect.binding === 'GRPC' ? [] : badInstants),
  ])('refuses %j by name', async (fields, name) => {
    await expect(list(fields)).rejects.toThrow(name)
  })
})

test('on the wire artifacts are left out entirely, and nextPageToken is there when it is empty', async () => {
  const headers = { 'A2A-Version': '1.0' }
  const { body } = await gateway.call('GET', '/agents/donna/tasks?pageSize=100', undefined, { key: lucy.key, headers })
  expect(body.nextPageToken).toBe('')
  expect(body.tasks.every((task: object) => !('artifacts' in task))).toBe(true)
  const params = { includeArtifacts: true, status: 'TASK_STATE_WORKING' }
  const rpc = { jsonrpc: '2.0', id: 1, method: 'ListTasks', params }
  const answer = await gateway.call('POST', '/agents/donna', rpc, { key: lucy.key, headers })
  expect(answer.body.result).toMatchObject({ nextPageToken: '', tasks: [{ artifacts: [] }] })
})

test('v0.3 has no such method', async () => {
  for (const dialect of dialects.filter(({ version }) => version === '0.3')) {
    const client = await connect(gateway, donna, lucy.key, dialect)
    await expect(client.listTasks(ListTasksRequest.fromJSON({}))).rejects.toThrow(/tasks\/list/)
  }
})

import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import { loadTaskDocument } from '../../src/tasks/read-task.ts'
import type { Task } from '../../src/tasks/task.ts'
import { insertTaskMessage } from '../../src/tasks/task-message-store.ts'
import { findTask } from '../../src/tasks/task-store.ts'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { openStore } from '../support/store.ts'

let gateway: TestGateway
let donna: TestAgent
let mike: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
  mike = await gateway.addAgent('mike')
})
afterAll(() => gateway[Symbol.asyncDispose]())

const get = async (path: string, agent: TestAgent = mike) => (await gateway.call('GET', path, undefined, agent)).body

test('a list without tasks is an empty list', async () => {
  for (const query of ['', '?role=originator', '?state=working', '?contextId=none']) {
    expect(await get(`/v1/tasks${query}`)).toEqual({ tasks: [], nextPageToken: '', totalSize: 0 })
  }
})

test('a list leaves out artifacts unless they are requested', async () => {
  const task = await gateway.send('donna', 'listed', { key: mike.key })
  const artifact = { artifactId: 'a', parts: [{ text: 'made' }] }
  await gateway.call('POST', `/v1/tasks/${task.id}/artifacts`, { artifact }, donna)
  const [listed] = (await get('/v1/tasks', donna)).tasks
  expect(listed).toMatchObject({ id: task.id, originator: '@mike', history: [{ parts: [{ text: 'listed' }] }] })
  expect(listed).not.toHaveProperty('artifacts')
  const [whole] = (await get('/v1/tasks?includeArtifacts=true&historyLength=0', donna)).tasks
  expect(whole).toMatchObject({ history: [], artifacts: [artifact], messageCount: 1 })
})

test('a long history is cut to its newest messages, with the total number, and more on request', async () => {
  const task = await gateway.send('donna', 'message 1', { key: mike.key })
  const more = Array.from({ length: 149 }, (_, i) => i + 2)
  for (const n of more) await gateway.send('donna', `message ${n}`, { key: mike.key, message: { taskId: task.id } })
  const first = (history: { parts: { text: string }[] }[]) => history[0]?.parts[0]?.text
  const recent = await get(`/v1/tasks/${task.id}`)
  expect([recent.history.length, first(recent.history), recent.messageCount]).toEqual([100, 'message 51', 150])
  const whole = await get(`/v1/tasks/${task.id}?historyLength=10000`)
  expect([whole.history.length, first(whole.history)]).toEqual([150, 'message 1'])
  expect((await get(`/v1/tasks/${task.id}?historyLength=0`)).history).toEqual([])
  const [listed] = (await get('/v1/tasks?role=originator&state=submitted&historyLength=2')).tasks
  expect(first(listed.history)).toBe('message 149')
  const moved = await gateway.move(donna, task.id, 'working')
  expect(moved.body.history).toHaveLength(100)
})

test('a task of ten thousand messages is read by its newest, and as of the state that was read', async () => {
  const task = await gateway.send('donna', 'long', { key: mike.key })
  const artifact = { artifactId: 'a', parts: [{ text: 'one' }] }
  await gateway.call('POST', `/v1/tasks/${task.id}/artifacts`, { artifact }, donna)
  await gateway.stop()
  await using db = await openStore(gateway.dataDir, systemClock)
  const before = (await findTask(db, task.id)) as Task
  await db.transaction(async (tx) => {
    for (let n = 1; n < 10_000; n++) {
      const text = JSON.stringify({ messageId: `${n}`, role: 'ROLE_USER', parts: [] })
      await insertTaskMessage(tx, before.id, n + 1, { text, bytes: text.length, size: text.length })
    }
  })
  // Changes after the row was read are not in the document: a follower gets them as events.
  expect((await loadTaskDocument(db, before)).history).toHaveLength(1)
  const grown = { ...before, messageCount: 10_000, chunkCount: 0 }
  expect((await loadTaskDocument(db, grown)).artifacts).toEqual([])
  const { history } = await loadTaskDocument(db, grown, { historyLength: 100 })
  expect([history.length, history[0]?.messageId, history.at(-1)?.messageId]).toEqual([100, '9900', '9999'])
})

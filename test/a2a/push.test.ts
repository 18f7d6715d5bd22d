import type { TaskPushNotificationConfig } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { TaskNotFoundError } from '@a2a-js/sdk/errors'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { startReceiver } from '../support/receiver.ts'
import { spawnHarness } from '../support/spawn-harness.ts'
import { atOnce, connect, dialects, saying, sendForTask } from './connect.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent
let harness: AsyncDisposable

beforeAll(async () => {
  gateway = await startGateway()
  donna = await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
  harness = await spawnHarness(gateway, donna)
})

afterAll(async () => {
  await harness[Symbol.asyncDispose]()
  await gateway[Symbol.asyncDispose]()
})

function configOf(taskId: string, url: string, fields: Partial<TaskPushNotificationConfig> = {}) {
  return { tenant: '', taskId, url, id: '', token: '', authentication: undefined, ...fields }
}

describe.each(dialects)('push notifications, A2A $version over $binding', ({ version, binding }) => {
  let client: Client

  beforeAll(async () => {
    client = await connect(gateway, donna, lucy.key, { version, binding })
  })

  test('a config is made, read, listed, replaced and deleted, twice if need be', async () => {
    const { id: taskId } = await sendForTask(client, saying('idle', {}, atOnce))
    const authentication = { scheme: 'Bearer', credentials: 'secret' }
    const fields = { id: 'mine', token: 't0ken', authentication }
    const made = await client.createTaskPushNotificationConfig(configOf(taskId, 'http://127.0.0.1:9/a', fields))
    expect(made).toMatchObject({ taskId, url: 'http://127.0.0.1:9/a', ...fields })
    await client.createTaskPushNotificationConfig(configOf(taskId, 'http://127.0.0.1:9/b', { id: 'mine' }))
    const other = await client.createTaskPushNotificationConfig(configOf(taskId, 'http://127.0.0.1:9/c'))
    expect(other.id).toBeTruthy()

    const read = await client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })
    expect(read).toMatchObject({ taskId, id: 'mine', url: 'http://127.0.0.1:9/b' })
    const list = () => client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })
    expect((await list()).configs.map(({ id }) => id).sort()).toEqual(['mine', other.id].sort())

    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })
    expect((await list()).configs.map(({ id }) => id)).toEqual([other.id])
    const gone = client.getTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })
    await expect(gone).rejects.toThrow(TaskNotFoundError)
  })

  test('a config that comes with the message gets every event, in the protocol version of the message', async () => {
    await using receiver = await startReceiver()
    const taskPushNotificationConfig = {
      url: receiver.url,
      token: 't0ken',
      authentication: { scheme: 'Bearer', credentials: 'secret' },
    }
    const task = await sendForTask(client, saying('work', {}, { taskPushNotificationConfig, ...atOnce }))
    const pushes = await receiver.waitFor(5)
    const words = pushes.map(({ body }) => inWords(body))
    if (version === '1.0') {
      expect(words).toEqual(['task submitted', 'status working', 'artifact one ', 'artifact two', 'status completed'])
    } else {
      // A piece of an artifact comes with the task as it is when it is sent, which may be finished.
      expect([words[0], words[1], words[4]]).toEqual(['task submitted', 'task working', 'task completed'])
      expect(pushes[4]!.body.artifacts[0].parts).toMatchObject([{ text: 'one ' }, { text: 'two' }])
    }
    for (const { headers, body } of pushes) {
      expect(headers['x-a2a-notification-token']).toBe('t0ken')
      expect(headers.authorization).toBe('Bearer secret')
      expect(headers['content-type']).toBe(version === '1.0' ? 'application/a2a+json' : 'application/json')
      const event =
        version === '1.0' ? Object.values(body as Record<string, { id?: string; taskId?: string }>)[0] : body
      expect(event.taskId ?? event.id).toBe(task.id)
    }
  })

  test('a later config gets the events after its creation, and none after its deletion', async () => {
    await using receiver = await startReceiver()
    const { id: taskId } = await sendForTask(client, saying('idle', {}, atOnce))
    await client.createTaskPushNotificationConfig(configOf(taskId, receiver.url, { id: 'mine' }))
    await gateway.move(donna, taskId, 'working')
    const [push] = await receiver.waitFor(1)
    expect(inWords(push!.body)).toBe(version === '1.0' ? 'status working' : 'task working')
    expect(push!.headers).not.toHaveProperty('authorization')
    expect(push!.headers).not.toHaveProperty('x-a2a-notification-token')

    await using witness = await startReceiver()
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId, id: 'mine' })
    await client.createTaskPushNotificationConfig(configOf(taskId, witness.url))
    await gateway.move(donna, taskId, 'completed')
    await witness.waitFor(1)
    expect(receiver.wakes).toHaveLength(1)
  })

  test('a finished task accepts a config too', async () => {
    const { id: taskId } = await sendForTask(client, saying('reject'))
    await gateway.call('GET', `/v1/tasks/${taskId}`)
    const made = await client.createTaskPushNotificationConfig(configOf(taskId, 'http://127.0.0.1:9/'))
    expect(made.taskId).toBe(taskId)
  })

  test('a forbidden URL is refused and never dialled', async () => {
    const { id: taskId } = await sendForTask(client, saying('idle', {}, atOnce))
    for (const url of ['http://10.0.0.1/', 'http://169.254.169.254/latest', 'file:///etc/passwd', 'nonsense']) {
      const refused = client.createTaskPushNotificationConfig(configOf(taskId, url))
      await expect(refused, url).rejects.toThrow(/may not be reached|http|URL/)
      const withMessage = saying('idle', {}, { taskPushNotificationConfig: { url }, ...atOnce })
      await expect(client.sendMessage(withMessage), url).rejects.toThrow(/may not be reached|http|URL/)
    }
    await client.createTaskPushNotificationConfig(configOf(taskId, 'https://nobody.invalid/hook'))
  })

  test('configs belong to their creator, and to existing tasks', async () => {
    const { id: taskId } = await sendForTask(client, saying('idle', {}, atOnce))
    await client.createTaskPushNotificationConfig(configOf(taskId, 'http://127.0.0.1:9/', { id: 'lucys' }))
    const others = await connect(gateway, donna, donna.key, { version, binding })
    const listed = await others.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })
    expect(listed.configs).toEqual([])
    const stray = client.createTaskPushNotificationConfig(configOf('nope', 'http://127.0.0.1:9/'))
    await expect(stray).rejects.toThrow(TaskNotFoundError)
  })
})

/** Both versions' bodies: v1.0's StreamResponse, v0.3's task. */
// biome-ignore lint/suspicious/noExplicitAny: a body as the wire carries it
function inWords(body: any): string {
  const { task, statusUpdate, artifactUpdate } = body
  const state = (status: { state: string }) => status.state.replace('TASK_STATE_', '').toLowerCase()
  if (task) return `task ${state(task.status)}`
  if (statusUpdate) return `status ${state(statusUpdate.status)}`
  if (artifactUpdate) return `artifact ${artifactUpdate.artifact.parts[0].text}`
  if (body.kind === 'task') return `task ${state(body.status)}`
  return JSON.stringify(body)
}

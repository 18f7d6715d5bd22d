import type { StreamResponse } from '@a2a-js/sdk'
import type { Client } from '@a2a-js/sdk/client'
import { atOnce, collect, dialects, saying, sendForTask } from '../a2a/connect.ts'
import type { TestAgent } from '../support/gateway.ts'
import { until } from '../support/until.ts'
import { openWay, type Way } from './a2a-recorder.ts'
import { inWorld, type World } from './exchange.ts'
import type { Files } from './fixture.ts'
import { type SharedCase, together } from './together.ts'

interface Scene extends World {
  readonly donna: TestAgent
  readonly ways: readonly Way[]
  /** The task that a way has sent at once. */
  readonly sent: Map<Way, string>
}

interface Told extends Scene {
  readonly way: Way
  readonly taskId: string
}

const tenant = ''
const id = 'config-1'

/** Every operation of A2A by the SDK's own client, in both versions over every binding. */
export const a2aOperationCases = together<Scene>(
  (play) =>
    inWorld(async (world) => {
      const { gateway } = world
      const donna = await gateway.addAgent('@donna')
      const ways: Way[] = []
      for (const [at, dialect] of dialects.entries()) {
        // A sender of its own, whose list has its own tasks alone.
        ways.push(await openWay(gateway, donna, await gateway.addAgent(`@lola${at}`), dialect))
      }
      await play({ ...world, donna, ways, sent: new Map() })
    }),
  [
    operation('SendMessage-at-once', 'A task, without waiting for its end.', async (client, { sent, way }) => {
      sent.set(way, (await sendForTask(client, saying('Please review PR 7', {}, atOnce))).id)
    }),
    operation('GetTask', 'A task with its history.', (client, { taskId }) => client.getTask({ tenant, id: taskId })),
    operation('ListTasks', 'The tasks of the caller. Only v1.0 has it.', (client) =>
      client.listTasks({ tenant, contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined }),
    ),
    operation('CreateTaskPushNotificationConfig', 'An address for the changes of a task.', (client, { taskId }) => {
      const authentication = { scheme: 'Bearer', credentials: 'c2VjcmV0' }
      const config = { url: 'https://harness.example/push', token: 'a-token-of-the-client', authentication }
      return client.createTaskPushNotificationConfig({ tenant, taskId, id, ...config })
    }),
    operation('GetTaskPushNotificationConfig', 'One address.', (client, { taskId }) =>
      client.getTaskPushNotificationConfig({ tenant, taskId, id }),
    ),
    operation('ListTaskPushNotificationConfigs', 'The addresses of a task.', (client, { taskId }) =>
      client.listTaskPushNotificationConfig({ tenant, taskId, pageSize: 0, pageToken: '' }),
    ),
    operation('DeleteTaskPushNotificationConfig', 'An address is removed.', (client, { taskId }) =>
      client.deleteTaskPushNotificationConfig({ tenant, taskId, id }),
    ),
    operation('SubscribeToTask', 'The task, and every change of it until it is finished.', (client, told) =>
      follow(client.resubscribeTask({ tenant, id: told.taskId }), () => work(told, told.taskId)),
    ),
    operation('SendMessage', 'The sender waits: the finished task.', (client, told) =>
      Promise.all([client.sendMessage(saying('Please review PR 7', {}, { returnImmediately: false })), work(told)]),
    ),
    operation('SendStreamingMessage', 'The new task, and every change of it until it is finished.', (client, told) =>
      follow(client.sendMessageStream(saying('Please review PR 7')), () => work(told)),
    ),
    operation(
      'CancelTask',
      'The originator takes a task back.',
      async (client, { gateway, donna }) => {
        const { body } = await gateway.call('GET', '/v1/tasks?role=assignee&state=submitted', undefined, donna)
        return client.cancelTask({ tenant, id: body.tasks[0].id, metadata: {} })
      },
      (client) => client.sendMessage(saying('Please review PR 7', {}, atOnce)),
    ),
    operation('GetExtendedAgentCard', 'The card as callers with a key see it.', (client) => client.getAgentCard()),
  ],
)

/** `before`: what is called first and not written down. */
function operation(
  name: string,
  shows: string,
  act: (client: Client, told: Told) => Promise<unknown>,
  before: (client: Client) => Promise<unknown> = async () => {},
): SharedCase<Scene> {
  const record = async (scene: Scene): Promise<Files> => {
    const files: Files = {}
    for (const way of scene.ways) {
      if (name === 'ListTasks' && way.dialect.version === '0.3') continue
      await before(way.client)
      const told = { ...scene, way, taskId: scene.sent.get(way) ?? '' }
      files[`${way.name}.json`] = await way.note((client) => act(client, told))
    }
    return files
  }
  return [`a2a-operations/${name}`, shows, record]
}

/** Reads a stream to its end. `act` comes after its first event, which is the task as it then is. */
async function follow(stream: AsyncGenerator<StreamResponse, void>, act: () => Promise<void>): Promise<void> {
  await stream.next()
  await act()
  await collect(stream)
}

/** The assignee finishes a task: unless it is named, the one that it has not begun yet, once that is there. */
async function work({ gateway, donna }: Scene, taskId?: string): Promise<void> {
  const [task] = await until(
    async () => (await gateway.call('GET', '/v1/tasks?role=assignee&state=submitted', undefined, donna)).body.tasks,
    ({ length }) => length > 0,
  )
  const id = taskId ?? task.id
  await gateway.move(donna, id, 'working')
  const artifacts = [{ artifactId: 'review', name: 'review.md', parts: [{ text: 'Looks good.' }] }]
  await gateway.move(donna, id, 'completed', { artifacts })
}

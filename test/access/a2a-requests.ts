import type { Client } from '@a2a-js/sdk/client'
import type { A2aOperationName } from '../../src/fronts/access/a2a-operations.ts'
import { atOnce, saying } from '../a2a/connect.ts'
import { must, secret, type World } from './world.ts'

/** A task that donna sent to the agent `desk`, with a push config. */
export interface PlantedTask {
  readonly taskId: string
  readonly configId: string
}

export async function plantTask({ gateway, donna, url }: World): Promise<PlantedTask> {
  const { id } = await gateway.send('desk', secret, { key: donna.key })
  const configId = `config-${id}`
  const headers = { 'A2A-Version': '1.0' }
  const config = { id: configId, url: `${url}/${secret}` }
  const path = `/agents/desk/tasks/${id}/pushNotificationConfigs`
  await must(gateway.call('POST', path, config, { key: donna.key, headers }))
  return { taskId: id, configId }
}

const tenant = ''

/** One valid call for each operation, by the SDK's client, about a task of donna's. Resolves with its answer. */
export const a2aCalls: Record<
  A2aOperationName,
  (client: Client, planted: PlantedTask, world: World) => Promise<unknown>
> = {
  GetExtendedAgentCard: (client) => client.getAgentCard(),
  SendMessage: (client) => client.sendMessage(saying('hello', {}, atOnce)),
  SendStreamingMessage: (client) => first(client.sendMessageStream(saying('hello', {}, atOnce))),
  SubscribeToTask: (client, { taskId }) => first(client.resubscribeTask({ tenant, id: taskId })),
  CancelTask: (client, { taskId }) => client.cancelTask({ tenant, id: taskId, metadata: {} }),
  GetTask: (client, { taskId }) => client.getTask({ tenant, id: taskId }),
  ListTasks: (client) =>
    client.listTasks({ tenant, contextId: '', status: 0, pageToken: '', statusTimestampAfter: undefined }),
  CreateTaskPushNotificationConfig: (client, { taskId }, { url }) =>
    client.createTaskPushNotificationConfig({
      tenant,
      taskId,
      id: `made-${crypto.randomUUID()}`,
      url,
      token: '',
      authentication: undefined,
    }),
  ListTaskPushNotificationConfigs: (client, { taskId }) =>
    client.listTaskPushNotificationConfig({ tenant, taskId, pageSize: 0, pageToken: '' }),
  GetTaskPushNotificationConfig: (client, { taskId, configId }) =>
    client.getTaskPushNotificationConfig({ tenant, taskId, id: configId }),
  DeleteTaskPushNotificationConfig: async (client, { taskId, configId }) => {
    await client.deleteTaskPushNotificationConfig({ tenant, taskId, id: configId })
    return 'deleted'
  },
}

/** Returns the first event of a stream, and closes it. */
async function first(stream: AsyncGenerator<unknown, void, undefined>): Promise<unknown> {
  const { value } = await stream.next()
  await stream.return()
  return value
}

import {
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import { holdLog, logBounds } from '../../log/event-store.ts'
import type { Transaction } from '../../storage/database.ts'
import {
  createPushConfig,
  deletePushConfig,
  keepPushConfig,
  listPushConfigs,
  type PushConfig,
  type PushContext,
  readPushConfig,
  requireSendable,
} from '../../tasks/push-configs.ts'
import type { Task } from '../../tasks/task.ts'
import type { A2aCall } from './call.ts'
import { requireCalledTask } from './called-task.ts'
import { typed } from './params.ts'

/** CreateTaskPushNotificationConfig (§3.1.7). The pushes will speak the version that the call speaks. */
export async function createConfig(
  context: PushContext,
  call: A2aCall,
  params: TaskPushNotificationConfig,
  requestedVersion: string,
): Promise<TaskPushNotificationConfig> {
  const { id } = await requireCalledTask(context.db, call, params.taskId, 'taskId')
  return pushView(await createPushConfig(context, call.caller, id, pushInput(params, requestedVersion)))
}

export async function getConfig(
  context: PushContext,
  call: A2aCall,
  params: GetTaskPushNotificationConfigRequest,
): Promise<TaskPushNotificationConfig> {
  const { id } = await requireCalledTask(context.db, call, params.taskId, 'taskId')
  return pushView(await readPushConfig(context, call.caller, id, params.id))
}

export async function listConfigs(
  context: PushContext,
  call: A2aCall,
  params: ListTaskPushNotificationConfigsRequest,
): Promise<ListTaskPushNotificationConfigsResponse> {
  const { id } = await requireCalledTask(context.db, call, params.taskId, 'taskId')
  return { configs: (await listPushConfigs(context, call.caller, id)).map(pushView), nextPageToken: '' }
}

export async function deleteConfig(
  context: PushContext,
  call: A2aCall,
  params: DeleteTaskPushNotificationConfigRequest,
): Promise<void> {
  const { id } = await requireCalledTask(context.db, call, params.taskId, 'taskId')
  await deletePushConfig(context, call.caller, id, params.id)
}

/** Keeps the config that comes with a message, in the transaction that takes the message: nothing after it goes untold. */
export function keepingConfig(
  context: PushContext,
  call: A2aCall,
  config: TaskPushNotificationConfig,
  requestedVersion: string,
): (tx: Transaction, task: Task) => Promise<void> {
  const input = pushInput(config, requestedVersion)
  requireSendable(context, input, 'configuration.taskPushNotificationConfig.')
  return async (tx, task) => {
    await holdLog(tx, task.projectId)
    const { head } = await logBounds(tx, task.projectId)
    await keepPushConfig(context, tx, call.caller, task, input, head)
  }
}

function pushInput(config: TaskPushNotificationConfig, requestedVersion: string) {
  const { id, url, token, authentication } = typed(TaskPushNotificationConfig, config)
  const protocolVersion = requestedVersion === '0.3' ? ('0.3' as const) : ('1.0' as const)
  return { id, url, token, authentication, protocolVersion }
}

function pushView(config: PushConfig): TaskPushNotificationConfig {
  return { tenant: '', ...config, authentication: config.authentication }
}

import {
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import { Problem } from '../../errors.ts'
import { inputLimits } from '../../limits.ts'
import { lockLog } from '../../log/event-store.ts'
import { requireBoundedId } from '../../tasks/bounded-message.ts'
import { type PushConfig, type PushContext, type PushInput, requireSendable } from '../../tasks/push-config.ts'
import {
  createPushConfig,
  deletePushConfig,
  listPushConfigs,
  readPushConfig,
  requireRoomForPush,
  storePushConfig,
} from '../../tasks/push-configs.ts'
import type { SendMessageInput } from '../../tasks/send-message.ts'
import type { A2aCall } from './call.ts'
import { requireCalledTask } from './called-task.ts'
import { typed } from './params.ts'

/** CreateTaskPushNotificationConfig (§3.1.7). The pushes have the protocol version of the call. */
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
  return pushView(await readPushConfig(context, call.caller, id, requireConfigId(params.id)))
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
  await deletePushConfig(context, call.caller, id, requireConfigId(params.id))
}

/** Keeps the config that comes with a message in the transaction that stores the message: every later event is pushed. */
export function keepingConfig(
  context: PushContext,
  call: A2aCall,
  config: TaskPushNotificationConfig,
  requestedVersion: string,
): Required<Pick<SendMessageInput, 'room' | 'within'>> {
  const input = pushInput(config, requestedVersion)
  requireSendable(context, input, 'configuration.taskPushNotificationConfig.')
  return {
    room: (tx, taskId) => requireRoomForPush(tx, call.caller, taskId, input.id),
    within: async (tx, task) => {
      await storePushConfig(context, tx, call.caller, { task, input, after: await lockLog(tx, task.projectId) })
    },
  }
}

/** An empty id means the only config of the task. Over v0.3 an id may be of any type. */
function requireConfigId(id: unknown): string {
  if (typeof id !== 'string') throw new Problem('invalid-request', { field: 'id', detail: 'id: must be a string.' })
  requireBoundedId(id, 'id', inputLimits.pushConfigId)
  return id
}

function pushInput(config: TaskPushNotificationConfig, requestedVersion: string): PushInput {
  const { id, url, token, authentication } = typed(TaskPushNotificationConfig, config)
  const protocolVersion = requestedVersion === '0.3' ? '0.3' : '1.0'
  return { id, url, token, authentication, protocolVersion }
}

function pushView(config: PushConfig): TaskPushNotificationConfig {
  return { tenant: '', ...config, authentication: config.authentication }
}

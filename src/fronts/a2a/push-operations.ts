import {
  type DeleteTaskPushNotificationConfigRequest,
  type GetTaskPushNotificationConfigRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import { Problem } from '../../errors.ts'
import { lockLog } from '../../log/event-store.ts'
import { requireBoundedId } from '../../tasks/bounded-message.ts'
import type { TaskContext } from '../../tasks/context.ts'
import { type PushConfig, type PushInput, requireSendable } from '../../tasks/push-config.ts'
import {
  createPushConfig,
  deletePushConfig,
  listPushConfigs,
  readOnlyPushConfig,
  readPushConfig,
  requireRoomForPush,
  storePushConfig,
} from '../../tasks/push-configs.ts'
import type { SendMessageInput } from '../../tasks/send-message.ts'
import type { A2aCall, PageRequest } from './call.ts'
import { requireCalledTask } from './called-task.ts'
import { typed } from './params.ts'

/** CreateTaskPushNotificationConfig (specification §3.1.7). The pushes have the protocol version of the call. */
export async function createConfig(
  context: TaskContext,
  call: A2aCall,
  params: TaskPushNotificationConfig,
  requestedVersion: string,
): Promise<TaskPushNotificationConfig> {
  const { id } = await requireCalledTask(context.db, call, params.taskId, 'taskId')
  return pushView(await createPushConfig(context, call.caller, id, pushInput(params, requestedVersion)))
}

export async function getConfig(
  context: TaskContext,
  call: A2aCall,
  params: GetTaskPushNotificationConfigRequest,
  requestedVersion: string,
): Promise<TaskPushNotificationConfig> {
  const { id } = await requireCalledTask(context.db, call, params.taskId, 'taskId')
  const isOnly = requestedVersion === '0.3' && (params.id === '' || params.id === legacyOnlyConfig)
  if (!isOnly) return pushView(await readPushConfig(context, call.caller, id, requireConfigId(params.id)))
  return pushView(await readOnlyPushConfig(context, call.caller, id, legacyOnlyConfig))
}

export async function listConfigs(
  context: TaskContext,
  call: A2aCall,
  params: ListTaskPushNotificationConfigsRequest,
): Promise<ListTaskPushNotificationConfigsResponse> {
  const { id } = await requireCalledTask(context.db, call, params.taskId, 'taskId')
  const { pageSize = pushPageDefault, pageToken } = { ...pageOf(params), ...call.pageRequest }
  if (!Number.isInteger(pageSize) || pageSize < 1) {
    throw new Problem('invalid-request', { field: 'pageSize', detail: 'pageSize: is a number from 1.' })
  }
  const all = await listPushConfigs(context, call.caller, id)
  const { items, nextPageToken } = pageById(all, pageSize, pageToken)
  return { configs: items.map(pushView), nextPageToken }
}

export async function deleteConfig(
  context: TaskContext,
  call: A2aCall,
  params: DeleteTaskPushNotificationConfigRequest,
): Promise<void> {
  const { id } = await requireCalledTask(context.db, call, params.taskId, 'taskId')
  await deletePushConfig(context, call.caller, id, requireConfigId(params.id))
}

/** Keeps the config that comes with a message in the transaction that stores the message: every later event is pushed. */
export function keepingConfig(
  context: TaskContext,
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

/** The page that the message of a call asks for; 0 is unset in protocol buffers. v0.3 has no pages. */
function pageOf({ pageSize, pageToken }: ListTaskPushNotificationConfigsRequest): PageRequest {
  return { ...(pageSize ? { pageSize } : {}), ...(pageToken ? { pageToken } : {}) }
}

/** The configs of a page that does not say how many it wants. */
const pushPageDefault = 100

/** The id by which clients of v0.3 name the only config of a task. */
const legacyOnlyConfig = 'default'

/** A page of configs in the order of their ids, after the id that a token names: a config that is removed meanwhile moves none. */
function pageById(
  all: readonly PushConfig[],
  pageSize: number,
  pageToken: string | undefined,
): { items: readonly PushConfig[]; nextPageToken: string } {
  const after = pageToken ? Buffer.from(pageToken, 'base64url').toString('utf8') : ''
  const sorted = [...all].sort((one, other) => (one.id < other.id ? -1 : 1)).filter(({ id }) => id > after)
  const items = sorted.slice(0, pageSize)
  const last = items.at(-1)
  return {
    items,
    nextPageToken: last && items.length < sorted.length ? Buffer.from(last.id).toString('base64url') : '',
  }
}

/** Errors: `invalid-request` for an id that is missing: it is required (specification §3.1.8, §3.1.10). */
function requireConfigId(id: unknown): string {
  if (typeof id !== 'string') throw new Problem('invalid-request', { field: 'id', detail: 'id: must be a string.' })
  if (id === '') {
    throw new Problem('invalid-request', {
      field: 'id',
      detail: 'id: is required: the id of a push notification config. List the configs to see their ids.',
    })
  }
  requireBoundedId(id, 'id')
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

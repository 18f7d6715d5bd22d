import {
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTasksRequest,
  SendMessageRequest,
  SubscribeToTaskRequest,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import { LegacyA2AService } from '@a2a-js/sdk/compat/v0_3/server/grpc'
import { A2AService } from '@a2a-js/sdk/server/grpc'
import type { JsonObject } from '../../../src/lib/json.ts'
import { listing, push, sending } from './a2a-operations.ts'

/** A method of a service, as the SDK describes it. */
interface GrpcMethod {
  readonly path: string
  readonly responseStream: boolean
  requestSerialize(message: unknown): Buffer
}

/** One call that is right, to be made wrong. Words stand for ids, as in those over HTTP. */
export interface GrpcOperation {
  readonly method: GrpcMethod
  /** The request as JSON. */
  readonly params: JsonObject
  /** Makes what the SDK serialises out of JSON. */
  readonly messageOf: (params: unknown) => unknown
  readonly metadata: Readonly<Record<string, string>>
}

type Methods<Service> = Exclude<keyof Service, symbol | number>

const current = (
  method: Methods<typeof A2AService>,
  type: { fromJSON(json: unknown): unknown },
  params: JsonObject,
): GrpcOperation => ({
  method: A2AService[method] as unknown as GrpcMethod,
  params: { tenant: 'agents/mallory', ...params },
  messageOf: (json) => type.fromJSON(json),
  metadata: {},
})

// The SDK exports no reader of JSON for the messages of v0.3: they are written as it serialises them.
const legacy = (method: Methods<typeof LegacyA2AService>, params: JsonObject): GrpcOperation => ({
  method: LegacyA2AService[method] as unknown as GrpcMethod,
  params,
  messageOf: withBytes,
  metadata: { 'a2a-tenant': 'agents/mallory' },
})

/** JSON has no bytes: the content of a file is made of a text. */
function withBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBytes)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, inner]) => [name, withBytes(inner)])
  const made = Object.fromEntries(entries)
  const isFile = made.$case === 'fileWithBytes' && typeof made.value === 'string'
  return isFile ? { ...made, value: Buffer.from(made.value) } : made
}

const currentOperations: readonly GrpcOperation[] = [
  current('sendMessage', SendMessageRequest, sending),
  current('sendStreamingMessage', SendMessageRequest, sending),
  current('getTask', GetTaskRequest, { id: ':task', historyLength: 2 }),
  current('listTasks', ListTasksRequest, listing),
  current('cancelTask', CancelTaskRequest, { id: ':spareTask', metadata: { a: 1 } }),
  current('subscribeToTask', SubscribeToTaskRequest, { id: ':task' }),
  current('createTaskPushNotificationConfig', TaskPushNotificationConfig, { taskId: ':task', ...push }),
  current('getTaskPushNotificationConfig', GetTaskPushNotificationConfigRequest, { taskId: ':task', id: 'config' }),
  current('listTaskPushNotificationConfigs', ListTaskPushNotificationConfigsRequest, {
    taskId: ':task',
    pageSize: 5,
    pageToken: '',
  }),
  current('deleteTaskPushNotificationConfig', DeleteTaskPushNotificationConfigRequest, {
    taskId: ':task',
    id: 'config',
  }),
  current('getExtendedAgentCard', GetExtendedAgentCardRequest, {}),
]

const legacyPush = {
  id: 'config',
  url: 'http://127.0.0.1:9/hook',
  token: 't',
  authentication: { schemes: ['Bearer'], credentials: 'c' },
}
const file = (content: JsonObject) => ({ part: { $case: 'file', value: { file: content, mimeType: 'a/b' } } })
const legacySending = {
  request: {
    messageId: 'm-1',
    contextId: 'context-1',
    taskId: '',
    role: 1,
    content: [
      { part: { $case: 'text', value: 'hi' } },
      { part: { $case: 'data', value: { data: { a: 1 } } } },
      file({ $case: 'fileWithUri', value: 'http://127.0.0.1:9/' }),
      file({ $case: 'fileWithBytes', value: 'hello' }),
    ],
    metadata: { priority: 'high' },
    extensions: ['urn:x'],
  },
  configuration: {
    acceptedOutputModes: ['text/plain'],
    pushNotification: legacyPush,
    historyLength: 1,
    blocking: false,
  },
  metadata: { a: 1 },
}
const task = 'tasks/:task'
const config = `${task}/pushNotificationConfigs/config`

const legacyOperations: readonly GrpcOperation[] = [
  legacy('sendMessage', legacySending),
  legacy('sendStreamingMessage', legacySending),
  legacy('getTask', { name: task, historyLength: 2 }),
  legacy('cancelTask', { name: 'tasks/:spareTask' }),
  legacy('taskSubscription', { name: task }),
  legacy('createTaskPushNotificationConfig', {
    parent: task,
    configId: 'config',
    config: { name: config, pushNotificationConfig: legacyPush },
  }),
  legacy('getTaskPushNotificationConfig', { name: config }),
  legacy('listTaskPushNotificationConfig', { parent: task, pageSize: 5, pageToken: '' }),
  legacy('deleteTaskPushNotificationConfig', { name: config }),
  legacy('getAgentCard', {}),
]

export const grpcOperations: readonly GrpcOperation[] = [...currentOperations, ...legacyOperations]

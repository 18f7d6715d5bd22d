import type { JsonObject } from '../../../src/lib/json.ts'
import { type Operation, operation } from './operation.ts'

const v1 = { 'A2A-Version': '1.0' }
const v03 = { 'A2A-Version': '0.3' }
type Version = typeof v1

const rpc = (method: string, params: unknown, headers: Version = v1): Operation =>
  operation(`${method} ${headers['A2A-Version']}`, 'POST', '/agents/mallory', {
    headers,
    body: { jsonrpc: '2.0', id: 1, method, params },
  })
const http = (method: string, below: string, more: Partial<Operation> = {}, headers: Version = v1): Operation =>
  operation(`${method} ${below} ${headers['A2A-Version']}`, method, `/agents/mallory${below}`, { headers, ...more })

export const message = {
  messageId: 'm-1',
  contextId: 'context-1',
  taskId: '',
  role: 'ROLE_USER',
  parts: [
    { text: 'hello', metadata: { a: 1 } },
    { data: { a: [1, { b: null }] } },
    { raw: 'aGVsbG8=', filename: 'a.txt', mediaType: 'text/plain' },
    { url: 'http://127.0.0.1:9/' },
  ],
  metadata: { priority: 'high', wakePolicy: 'immediate', taggedConcepts: ['a'], expiresAt: '2030-01-01T00:00:00.000Z' },
  referenceTaskIds: [':task'],
  extensions: ['urn:x'],
}
export const push = {
  id: 'config',
  url: 'http://127.0.0.1:9/hook',
  token: 'token-1',
  authentication: { scheme: 'Bearer', credentials: 'c-1' },
}
const configuration = {
  returnImmediately: true,
  acceptedOutputModes: ['text/plain'],
  historyLength: 3,
  taskPushNotificationConfig: push,
}
export const sending = { message, configuration, metadata: { taggedConcepts: ['b'] } }
const sendingToTask = {
  message: { messageId: 'm-1', role: 'ROLE_USER', taskId: ':spareTask', parts: [{ text: 'more' }] },
}

export const listing = {
  contextId: 'c',
  status: 'TASK_STATE_SUBMITTED',
  pageSize: 5,
  pageToken: '',
  historyLength: 1,
  includeArtifacts: true,
  statusTimestampAfter: '2026-01-01T00:00:00Z',
}

const legacyMessage = {
  kind: 'message',
  messageId: 'm-1',
  contextId: 'context-1',
  role: 'user',
  parts: [
    { kind: 'text', text: 'hi', metadata: { a: 1 } },
    { kind: 'data', data: { a: 1 } },
    { kind: 'file', file: { bytes: 'AAAA', name: 'f', mimeType: 'a/b' } },
    { kind: 'file', file: { uri: 'http://127.0.0.1:9/' } },
  ],
  referenceTaskIds: [':task'],
  extensions: ['urn:x'],
  metadata: {},
}
const legacyPush = {
  id: 'config',
  url: 'http://127.0.0.1:9/hook',
  token: 't',
  authentication: { schemes: ['Bearer'], credentials: 'c' },
}
const legacySending = {
  message: legacyMessage,
  configuration: {
    blocking: false,
    historyLength: 1,
    acceptedOutputModes: ['text/plain'],
    pushNotificationConfig: legacyPush,
  },
  metadata: {},
}

const overRpc: readonly Operation[] = [
  rpc('SendMessage', sending),
  rpc('SendMessage', sendingToTask),
  rpc('SendStreamingMessage', sending),
  rpc('GetTask', { id: ':task', historyLength: 2 }),
  rpc('ListTasks', listing),
  rpc('CancelTask', { id: ':spareTask', metadata: { a: 1 } }),
  rpc('SubscribeToTask', { id: ':task' }),
  rpc('CreateTaskPushNotificationConfig', { taskId: ':task', ...push }),
  rpc('GetTaskPushNotificationConfig', { taskId: ':task', id: 'config' }),
  rpc('ListTaskPushNotificationConfigs', { taskId: ':task', pageSize: 5, pageToken: '' }),
  rpc('DeleteTaskPushNotificationConfig', { taskId: ':task', id: 'config' }),
  rpc('GetExtendedAgentCard', { tenant: '' }),
]

const overLegacyRpc: readonly Operation[] = [
  rpc('message/send', legacySending, v03),
  rpc('message/stream', legacySending, v03),
  rpc('tasks/get', { id: ':task', historyLength: 2, metadata: {} }, v03),
  rpc('tasks/cancel', { id: ':spareTask', metadata: {} }, v03),
  rpc('tasks/resubscribe', { id: ':task', metadata: {} }, v03),
  rpc('tasks/pushNotificationConfig/set', { taskId: ':task', pushNotificationConfig: legacyPush }, v03),
  rpc('tasks/pushNotificationConfig/get', { id: ':task', pushNotificationConfigId: 'config' }, v03),
  rpc('tasks/pushNotificationConfig/list', { id: ':task' }, v03),
  rpc('tasks/pushNotificationConfig/delete', { id: ':task', pushNotificationConfigId: 'config' }, v03),
  rpc('agent/getAuthenticatedExtendedCard', {}, v03),
]

const configs = '/tasks/:task/pushNotificationConfigs'
const inQuery = (query: JsonObject): Partial<Operation> => ({ query })

const overHttp: readonly Operation[] = [
  http('POST', '/message:send', { body: sending }),
  http('POST', '/message:stream', { body: sending }),
  http('GET', '/tasks/:task', inQuery({ historyLength: '2' })),
  http('GET', '/tasks', inQuery({ ...listing, pageSize: '5', historyLength: '1', includeArtifacts: 'true' })),
  http('POST', '/tasks/:spareTask:cancel', { body: { metadata: { a: 1 } } }),
  http('GET', '/tasks/:task:subscribe'),
  http('POST', '/tasks/:task:subscribe', { body: {} }),
  http('POST', configs, { body: push }),
  http('GET', configs, inQuery({ pageSize: '5', pageToken: '' })),
  http('GET', `${configs}/config`),
  http('DELETE', `${configs}/config`),
  http('GET', '/extendedAgentCard'),
]

const protoMessage = {
  messageId: 'm',
  contextId: 'c',
  role: 'ROLE_USER',
  content: [
    { text: 'x' },
    { file: { fileWithUri: 'http://127.0.0.1:9/', mimeType: 'a/b' } },
    { file: { fileWithBytes: 'AAAA' } },
    { data: { data: { a: 1 } } },
  ],
  metadata: { a: 1 },
  extensions: ['urn:x'],
}
const protoSending = {
  message: protoMessage,
  configuration: {
    blocking: false,
    historyLength: 1,
    acceptedOutputModes: ['a/b'],
    pushNotification: legacyPush,
  },
  metadata: { a: 1 },
}

const overLegacyHttp: readonly Operation[] = [
  http('POST', '/v1/message:send', { body: protoSending }, v03),
  http('POST', '/v1/message:stream', { body: protoSending }, v03),
  http('GET', '/v1/tasks/:task', inQuery({ historyLength: '2' }), v03),
  http('POST', '/v1/tasks/:spareTask:cancel', { body: {} }, v03),
  http('GET', '/v1/tasks/:task:subscribe', {}, v03),
  http('POST', '/v1/tasks/:task:subscribe', { body: {} }, v03),
  http('POST', `/v1${configs}`, { body: { config: { pushNotificationConfig: legacyPush } } }, v03),
  http('GET', `/v1${configs}`, {}, v03),
  http('GET', `/v1${configs}/config`, {}, v03),
  http('DELETE', `/v1${configs}/config`, {}, v03),
  http('GET', '/v1/card', {}, v03),
]

export const a2aOperations: readonly Operation[] = [...overRpc, ...overLegacyRpc, ...overHttp, ...overLegacyHttp]

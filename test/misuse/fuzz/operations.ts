import type { JsonObject } from '../../../src/lib/json.ts'

/** One request that is right, to be made wrong. `:name` in a path stands for an id of the caller's own. */
export interface Operation {
  readonly name: string
  readonly method: string
  readonly path: string
  readonly query?: JsonObject
  readonly body?: unknown
  readonly headers?: Record<string, string>
}

const v1 = { 'A2A-Version': '1.0' }
const v03 = { 'A2A-Version': '0.3' }

const message = {
  messageId: 'm-1',
  contextId: 'context-1',
  role: 'ROLE_USER',
  parts: [
    { text: 'hello' },
    { data: { a: [1, { b: null }] } },
    { raw: 'aGVsbG8=', filename: 'a.txt', mediaType: 'text/plain' },
  ],
  metadata: { priority: 'high', wakePolicy: 'immediate', taggedConcepts: ['a'], expiresAt: '2030-01-01T00:00:00.000Z' },
  referenceTaskIds: [':task'],
  extensions: ['urn:x'],
}
const push = {
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
const sending = { message, configuration, metadata: { taggedConcepts: ['b'] } }

const legacyMessage = {
  kind: 'message',
  messageId: 'm-1',
  role: 'user',
  parts: [
    { kind: 'text', text: 'hi' },
    { kind: 'data', data: { a: 1 } },
  ],
  metadata: {},
}
const legacyPush = {
  url: 'http://127.0.0.1:9/hook',
  token: 't',
  authentication: { schemes: ['Bearer'], credentials: 'c' },
}
const legacySending = {
  message: legacyMessage,
  configuration: { blocking: false, acceptedOutputModes: ['text/plain'], pushNotificationConfig: legacyPush },
}

const rest = (name: string, method: string, path: string, body?: unknown, query?: JsonObject): Operation => ({
  name,
  method,
  path,
  ...(body === undefined ? {} : { body }),
  ...(query === undefined ? {} : { query }),
})
const rpc = (method: string, params: unknown, headers = v1): Operation => ({
  name: `${method} ${headers['A2A-Version']}`,
  method: 'POST',
  path: '/agents/mallory',
  headers,
  body: { jsonrpc: '2.0', id: 1, method, params },
})
const http = (method: string, below: string, body?: unknown, headers = v1, query?: JsonObject): Operation => ({
  ...rest(`${method} ${below} ${headers['A2A-Version']}`, method, `/agents/mallory${below}`, body, query),
  headers,
})

const part = { text: 'done', metadata: { a: 1 } }
const artifact = { artifactId: 'a-1', name: 'result', description: 'd', parts: [part], metadata: { k: 'v' } }
const metadata = { url: 'http://127.0.0.1:9/hook', coalesceWindow: 0, coalesceMode: 'window', maxInFlight: 2 }
const filters = { taggedConcepts: ['a'], priority: 'high', senderFilter: ['@mallory'], inReplyToFilter: ['x'] }
const skill = { id: 's', name: 'S', description: 'd', tags: ['t'], examples: ['e'], inputModes: ['text/plain'] }
const presence = { state: 'active', source: 'mcp-client', activeTurnId: 't-1', capabilities: ['steer'] }
const page = { limit: '5', pageToken: '' }

export const restOperations: readonly Operation[] = [
  rest('agents', 'GET', '/v1/agents'),
  rest('agent', 'GET', '/v1/agents/mallory'),
  rest('change agent', 'PATCH', '/v1/agents/mallory', {
    displayName: 'MalloryM',
    description: 'd',
    skills: [skill],
    inputModes: ['text/plain', '*/*'],
    outputModes: ['text/plain'],
    contactPolicy: 'everybody',
    defaultWakePolicy: 'immediate',
  }),
  rest('keys', 'GET', '/v1/agents/mallory/keys'),
  rest('make key', 'POST', '/v1/agents/mallory/keys', { label: 'l' }),
  rest('revoke key', 'DELETE', '/v1/agents/mallory/keys/none'),
  rest('subscribe', 'POST', '/v1/wake-subscriptions', {
    trigger: 'SENT_TO_ME',
    filters,
    harnessTarget: 'a2a-webhook',
    harnessTargetMetadata: metadata,
  }),
  rest('subscriptions', 'GET', '/v1/wake-subscriptions'),
  rest('subscription', 'GET', '/v1/wake-subscriptions/:subscription'),
  rest('update', 'PATCH', '/v1/wake-subscriptions/:subscription', {
    trigger: 'SENT_TO_ME',
    filters,
    harnessTargetMetadata: metadata,
    status: 'active',
    rotateSigningKey: true,
    overlapSeconds: 60,
  }),
  rest('unsubscribe', 'DELETE', '/v1/wake-subscriptions/WAKE_SUB:none'),
  rest('resync', 'POST', '/v1/wake-subscriptions/:subscription/resync', { sinceLogId: 0 }),
  rest('replay', 'POST', '/v1/wake-subscriptions/:subscription/replay', { fromLogId: 1, toLogId: 5 }),
  rest('replay one', 'POST', '/v1/wake-subscriptions/:subscription/replay', { eventId: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }),
  rest('replay failed', 'POST', '/v1/wake-subscriptions/:subscription/replay', {
    failedSince: '2026-01-01T00:00:00.000Z',
  }),
  rest('test', 'POST', '/v1/wake-subscriptions/:subscription/test'),
  rest('deliveries', 'GET', '/v1/wake-subscriptions/:subscription/deliveries', undefined, page),
  rest('held', 'GET', '/v1/wake-subscriptions/:subscription/held', undefined, { limit: '5', pageToken: '1' }),
  rest('tasks', 'GET', '/v1/tasks', undefined, {
    role: 'assignee',
    state: 'submitted',
    contextId: 'c',
    pageSize: '5',
    pageToken: '',
    historyLength: '2',
    includeArtifacts: 'true',
  }),
  rest('task', 'GET', '/v1/tasks/:task', undefined, { historyLength: '5' }),
  rest('move', 'POST', '/v1/tasks/:task/transitions', {
    to: 'working',
    expectedVersion: 1,
    message: { parts: [part] },
    artifacts: [artifact],
  }),
  rest('artifact', 'POST', '/v1/tasks/:task/artifacts', {
    artifact,
    append: true,
    lastChunk: false,
    expectedVersion: 1,
  }),
  rest('mail', 'POST', '/v1/messages', {
    to: '@mallory',
    subject: 's',
    body: 'b',
    signalType: 'note',
    payload: { a: { b: [1] } },
    type: 'msg',
    ref: 'r',
    priority: 'high',
    wakePolicy: 'immediate',
    taggedConcepts: ['a'],
  }),
  rest('reply', 'POST', '/v1/messages', { subject: 's', body: 'b', inReplyTo: ':message' }),
  rest('sent', 'GET', '/v1/messages', undefined, page),
  rest('message', 'GET', '/v1/messages/:message'),
  rest('mark', 'POST', '/v1/messages/:message/status', { status: 'acked' }),
  rest('inbox', 'GET', '/v1/inbox', undefined, {
    unread: 'true',
    thread: 't',
    signalType: 's',
    type: 'msg',
    since: '2026-01-01T00:00:00Z',
    order: 'oldest',
    agent: 'mallory',
    limit: '5',
  }),
  rest('returns', 'POST', '/v1/inbox/returns', { sessionId: ':session', messageIds: [':message'] }),
  rest('thread', 'GET', '/v1/threads/:message', undefined, page),
  rest('start session', 'POST', '/v1/sessions', {
    surface: 'codex',
    capabilities: ['steer'],
    pid: 7,
    startedAt: '2026-01-01T00:00:00.000Z',
  }),
  rest('sessions', 'GET', '/v1/sessions', undefined, { status: 'ended', limit: '5' }),
  rest('session', 'GET', '/v1/sessions/:session'),
  rest('beat', 'PUT', '/v1/sessions/:session', { presence }),
  rest('presence', 'PUT', '/v1/presence', presence),
  rest('grant', 'POST', '/v1/permissions', { grantee: '@donna', scope: 'CAN_REPLY_TO' }),
  rest('permissions', 'GET', '/v1/permissions', undefined, {
    scope: 'CAN_REPLY_TO',
    grantor: '@mallory',
    grantee: '@donna',
  }),
  rest('revoke', 'DELETE', '/v1/permissions/none'),
  rest('claim', 'POST', '/v1/claims', { ref: 'issue-1' }),
  rest('claims', 'GET', '/v1/claims', undefined, { ref: 'issue-1', owner: '@mallory', limit: '5', pageToken: 'a' }),
  rest('release', 'DELETE', '/v1/claims', { ref: 'issue-1' }),
  rest('hand off', 'POST', '/v1/claims/handoff', { ref: 'issue-1', to: '@mallory', message: 'm' }),
  rest('projects', 'GET', '/v1/projects'),
  rest('make project', 'POST', '/v1/projects', { project: 'p' }),
  rest('register', 'POST', '/v1/agents', {
    handle: 'new-one',
    skills: [skill],
    aliases: ['alias-one'],
    access: 'private',
  }),
  rest('project', 'GET', '/v1/projects/junk'),
  rest('limits', 'PATCH', '/v1/projects/junk', { limits: { requestsPerMinute: 6_000, subscriptions: null } }),
  rest('operator keys', 'GET', '/v1/operator-keys'),
  rest('make operator key', 'POST', '/v1/operator-keys', { label: 'l', role: 'viewer', projects: ['junk'] }),
  rest('revoke token', 'POST', '/v1/tokens/revoke', { token: 'a.b.c' }),
  rest('revoke token by id', 'POST', '/v1/tokens/revoke', { keyId: `jwt:${'0'.repeat(32)}`, minted: true }),
  rest('audit', 'GET', '/v1/audit', undefined, {
    since: '2026-01-01T00:00:00.000Z',
    actor: '@mallory',
    operation: 'message.send',
    outcome: 'ok',
    limit: '5',
    pageToken: '',
  }),
  rest('events', 'GET', '/v1/events', undefined, { since: '0', limit: '5' }),
  rest('catalog', 'GET', '/v1/catalog', undefined, { skill: 's', tag: 't', q: 'q' }),
  rest('card', 'GET', '/agents/donna/.well-known/agent-card.json'),
  rest('jwks', 'GET', '/.well-known/jwks.json'),
  rest('health', 'GET', '/healthz'),
]

export const a2aOperations: readonly Operation[] = [
  rpc('SendMessage', sending),
  rpc('SendStreamingMessage', sending),
  rpc('GetTask', { id: ':task', historyLength: 2 }),
  rpc('ListTasks', {
    contextId: 'c',
    status: 'TASK_STATE_SUBMITTED',
    pageSize: 5,
    pageToken: '',
    historyLength: 1,
    includeArtifacts: true,
    statusTimestampAfter: '2026-01-01T00:00:00Z',
  }),
  rpc('CancelTask', { id: ':task', metadata: { a: 1 } }),
  rpc('SubscribeToTask', { id: ':task' }),
  rpc('CreateTaskPushNotificationConfig', { taskId: ':task', ...push }),
  rpc('GetTaskPushNotificationConfig', { taskId: ':task', id: 'config' }),
  rpc('ListTaskPushNotificationConfigs', { taskId: ':task', pageSize: 5 }),
  rpc('DeleteTaskPushNotificationConfig', { taskId: ':task', id: 'config' }),
  rpc('GetExtendedAgentCard', {}),
  rpc('message/send', legacySending, v03),
  rpc('message/stream', legacySending, v03),
  rpc('tasks/get', { id: ':task', historyLength: 2 }, v03),
  rpc('tasks/cancel', { id: ':task', metadata: {} }, v03),
  rpc('tasks/resubscribe', { id: ':task' }, v03),
  rpc('tasks/pushNotificationConfig/set', { taskId: ':task', pushNotificationConfig: legacyPush }, v03),
  rpc('tasks/pushNotificationConfig/get', { id: ':task' }, v03),
  rpc('tasks/pushNotificationConfig/list', { id: ':task' }, v03),
  rpc('tasks/pushNotificationConfig/delete', { id: ':task', pushNotificationConfigId: 'config' }, v03),
  rpc('agent/getAuthenticatedExtendedCard', {}, v03),
  http('POST', '/message:send', sending),
  http('POST', '/message:stream', sending),
  http('GET', '/tasks/:task', undefined, v1, { historyLength: '2' }),
  http('GET', '/tasks', undefined, v1, {
    contextId: 'c',
    status: 'TASK_STATE_SUBMITTED',
    pageSize: '5',
    historyLength: '1',
    includeArtifacts: 'true',
  }),
  http('POST', '/tasks/:task:cancel', {}),
  http('GET', '/tasks/:task:subscribe'),
  http('POST', '/tasks/:task/pushNotificationConfigs', push),
  http('GET', '/tasks/:task/pushNotificationConfigs'),
  http('GET', '/tasks/:task/pushNotificationConfigs/config'),
  http('DELETE', '/tasks/:task/pushNotificationConfigs/none'),
  http('GET', '/extendedAgentCard'),
  http(
    'POST',
    '/v1/message:send',
    { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'x' }] }, configuration: { blocking: false } },
    v03,
  ),
  http('POST', '/v1/message:stream', { message: { messageId: 'm', role: 'ROLE_USER', content: [{ text: 'x' }] } }, v03),
  http('GET', '/v1/tasks/:task', undefined, v03, { historyLength: '2' }),
  http('POST', '/v1/tasks/:task:cancel', {}, v03),
  http('POST', '/v1/tasks/:task/pushNotificationConfigs', { config: { pushNotificationConfig: legacyPush } }, v03),
  http('GET', '/v1/tasks/:task/pushNotificationConfigs', undefined, v03),
  http('GET', '/v1/card', undefined, v03),
]

/** Requests of gRPC in JSON, as the SDK's `fromJSON` reads them. */
export const grpcOperations: readonly { method: string; params: JsonObject }[] = [
  { method: 'sendMessage', params: sending },
  { method: 'getTask', params: { id: ':task', historyLength: 2 } },
  { method: 'listTasks', params: { contextId: 'c', pageSize: 5, historyLength: 1 } },
  { method: 'cancelTask', params: { id: ':task' } },
  { method: 'createTaskPushNotificationConfig', params: { taskId: ':task', ...push } },
  { method: 'getTaskPushNotificationConfig', params: { taskId: ':task', id: 'config' } },
  { method: 'listTaskPushNotificationConfigs', params: { taskId: ':task' } },
  { method: 'getExtendedAgentCard', params: {} },
]

import type { JsonObject } from '../../../src/lib/json.ts'
import { withAllFields } from '../../requests/sample.ts'
import { samples } from '../../requests/samples.ts'
import { filters, webhook } from '../../requests/wakes.ts'
import { artifact } from '../../requests/work.ts'
import type { Operation } from './operation.ts'

const accept = { Accept: 'application/json, text/event-stream' }
const clientInfo = { name: 'fuzz', version: '1' }
const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A request of 2026-07-28, which has no session. Its headers repeat what the body says. */
function modern(method: string, params: JsonObject = {}): Operation {
  const named = params.name ?? params.uri
  return {
    name: `mcp ${method} ${named ?? ''}`,
    method: 'POST',
    path: '/mcp',
    headers: {
      ...accept,
      'Mcp-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(typeof named === 'string' ? { 'Mcp-Name': named } : {}),
    },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
  }
}

/** A request in the session that mallory has begun. */
function inSession(method: string, params: JsonObject = {}): Operation {
  return {
    name: `mcp session ${method} ${params.name ?? params.uri ?? ''}`,
    method: 'POST',
    path: '/mcp',
    headers: { ...accept, 'Mcp-Session-Id': ':mcp' },
    body: { jsonrpc: '2.0', id: 'a', method, params },
  }
}

const pageToken = ':message'
/** The page after what was made at 1 and is named x. */
const position = Buffer.from('1/x').toString('base64url')
const reader = { daemonSocketPath: '/s', reader: 'rouse bridge' }
const mail = withAllFields(samples['POST /v1/messages']).body as JsonObject
const work = {
  to: '@mallory',
  text: 't',
  contextId: 'c',
  referenceTaskIds: [':task'],
  wait: false,
  expiresAt: '2046-01-01T00:00:00.000Z',
  priority: 'low',
  wakePolicy: 'silent',
  taggedConcepts: ['a'],
}
const manage = 'manage_wake_subscription'

const calls: readonly (readonly [tool: string, input: JsonObject])[] = [
  ['read_inbox', { unread: true, type: 'msg', order: 'oldest', limit: 5, agent: '@mallory', pageToken }],
  ['read_inbox', { thread: ':message', signalType: 's', taggedConcept: 'a', since: '2026-01-01T00:00:00Z' }],
  ['send_message', mail],
  ['send_message', { inReplyTo: ':message', body: 'b', taggedConcepts: ['a'], idempotencyKey: 'k' }],
  ['read_thread', { threadId: ':message', limit: 5, pageToken }],
  ['read_thread', { messageId: ':message', bodyFrom: 1 }],
  ['mark_message', { messageId: ':message', status: 'acked' }],
  ['list_tasks', { role: 'assignee', state: 'submitted', contextId: 'c', pageSize: 5, pageToken: position }],
  ['get_task', { taskId: ':task', historyLength: 2 }],
  ['move_task', { taskId: ':spareTask', to: 'working', expectedVersion: 1, artifacts: [artifact] }],
  [
    'move_task',
    { taskId: ':spareTask', to: 'completed', expectedVersion: 1, message: 'm', answerAs: 'task', wakePolicy: 'silent' },
  ],
  ['send_task', work],
  ['send_task', { to: '@mallory', taskId: ':spareTask', text: 't', wait: false, idempotencyKey: ':spareTask' }],
  ['claim', { action: 'claim', ref: 'r' }],
  ['claim', { action: 'release', ref: ':spareClaim' }],
  ['claim', { action: 'handoff', ref: ':spareClaim', to: '@lucy', message: 'm' }],
  ['claim', { action: 'list', ref: 'r', owner: '@mallory', pageToken: 'a' }],
  ['who', { agent: '@mallory' }],
  ['who', { q: 'x', skill: 's', tag: 't', limit: 5, pageToken: '@a' }],
  ['whoami', {}],
  ['set_presence', { state: 'active', activeTurnId: 't', capabilities: ['steer'] }],
  ['grant', { action: 'grant', grantee: '@lucy', scope: 'CAN_REPLY_TO' }],
  ['grant', { action: 'revoke', permissionId: ':sparePermission' }],
  ['grant', { action: 'list', grantee: '@lucy', scope: 'CAN_REPLY_TO', pageToken: position }],
  [manage, { action: 'subscribe', trigger: 'SENT_TO_ME', filters, harnessTargetMetadata: webhook, startFrom: 'now' }],
  [manage, { action: 'unsubscribe', subscriptionId: ':spareReader' }],
  [manage, { action: 'update', subscriptionId: ':spareReader', harnessTargetMetadata: reader }],
  [manage, { action: 'update', subscriptionId: ':subscription', status: 'active', harnessTarget: 'a2a-webhook' }],
  [manage, { action: 'update', subscriptionId: ':subscription', rotateSigningKey: true, overlapSeconds: 60 }],
  [manage, { action: 'list', pageToken: position }],
  [manage, { action: 'resync', subscriptionId: ':subscription', sinceLogId: 0 }],
]

/** Calls of the tools for operators, in a project that has an agent with the alias `@mallory`, and nothing of mallory's. */
const operatorCalls: readonly (readonly [tool: string, input: JsonObject])[] = [
  ['needs_read', { kind: 'input', urgency: 'stops' }],
  ['needs_read', { agent: '@mallory', pageToken: '' }],
  ['agents_read', { limit: 5, pageToken: '@a' }],
  ['tasks_read', { state: 'working', role: 'originator', pageSize: 5, pageToken: position }],
  ['subscriptions_read', { limit: 5, pageToken: position }],
  ['deliveries_read', { outcome: 'failed', endedAfter: '2026-01-01T00:00:00Z', limit: 5, pageToken: 'a' }],
  ['deliveries_read', { subscriptionId: ':subscription', endedBefore: '2046-01-01T00:00:00Z' }],
  ['gateway_read', {}],
  ['recovery_write', { action: 'gate', nudges: 'enabled', restarts: 'disabled', reason: 'r' }],
  ['recovery_write', { action: 'gate', proof: ':message', backlog: 'skip' }],
  ['agents_read', { agent: '@mallory' }],
  ['tasks_read', { agent: '@mallory' }],
  ['subscriptions_read', { agent: '@mallory' }],
  ['deliveries_read', { agent: '@mallory' }],
  ['recovery_write', { action: 'end_park', agent: '@mallory' }],
  ['message_write', { action: 'send', to: '@mallory', subject: 's', body: 'b', wakePolicy: 'silent' }],
]
const refusedOperatorCalls: typeof operatorCalls = [
  ['tasks_read', { taskId: ':task' }],
  ['subscriptions_read', { subscriptionId: ':subscription' }],
  ['task_write', { action: 'answer', taskId: ':task', expectedVersion: 1, text: 't' }],
  ['task_write', { action: 'cancel', taskId: ':task', expectedVersion: 1, text: 't' }],
  ['task_write', { action: 'handoff', taskId: ':task', to: '@lucy', text: 't' }],
  ['subscription_write', { action: 'activate', subscriptionId: ':subscription' }],
  ['subscription_write', { action: 'pause', subscriptionId: ':subscription' }],
  ['subscription_write', { action: 'resync', subscriptionId: ':subscription', sinceLogId: 0 }],
  ['subscription_write', { action: 'replay', subscriptionId: ':subscription', eventId: 'a' }],
  ['subscription_write', { action: 'replay', subscriptionId: ':subscription', failedSince: '2026-01-01T00:00:00Z' }],
  ['subscription_write', { action: 'test', subscriptionId: ':subscription' }],
  ['message_write', { action: 'send', inReplyTo: ':message', body: 'b', idempotencyKey: 'k' }],
  ['need_write', { action: 'snooze', need: ':message', until: '2026-01-01T00:00:00Z' }],
  ['need_write', { action: 'unsnooze', need: 'none' }],
  ['message_write', { action: 'mark', messageId: ':message', status: 'seen' }],
]

const asOperator = ([name, input]: (typeof operatorCalls)[number]): Operation => ({
  ...modern('tools/call', { name, arguments: input }),
  query: { tools: 'read,write' },
  as: 'operator',
})

const resources = ['inbox/@mallory', 'thread/:message', 'task/:task', 'agent/@mallory'].map((name) => `rouse://${name}`)
const waiting = { name: 'wait_for_messages', arguments: { timeoutSeconds: 1 } }
const completion = {
  ref: { type: 'ref/prompt', name: 'hand-over' },
  argument: { name: 'to', value: '@m' },
  context: { arguments: { task: ':task' } },
}

/** The operations that both eras of the protocol have. */
const common: readonly (readonly [method: string, params: JsonObject])[] = [
  ...calls.map(([name, input]) => ['tools/call', { name, arguments: input }] as const),
  ['tools/list', { cursor: '' }],
  ['resources/list', { cursor: '' }],
  ['resources/templates/list', { cursor: '' }],
  ...resources.map((uri) => ['resources/read', { uri }] as const),
  ['prompts/list', { cursor: '' }],
  ['prompts/get', { name: 'answer-my-mail' }],
  ['prompts/get', { name: 'hand-over', arguments: { task: ':task', to: '@mallory' } }],
]
/** The operations that Rouse does not have, in either era or in one with sessions. */
const absent: readonly Operation[] = [
  modern('completion/complete', completion),
  inSession('completion/complete', completion),
  inSession('server/discover'),
  inSession('subscriptions/listen', { notifications: { resourceSubscriptions: resources } }),
]

/** A notification has no id. */
function notice(method: string, params: JsonObject): Operation {
  const { body, ...rest } = inSession(method, params)
  const { id: _, ...message } = body as JsonObject
  return { ...rest, body: message }
}

/** The requests to MCP, in both eras of the protocol. */
export const mcpOperations: readonly Operation[] = [
  ...common.flatMap(([method, params]) => [modern(method, params), inSession(method, params)]),
  ...operatorCalls.map(asOperator),
  ...[...absent, ...refusedOperatorCalls.map(asOperator)].map((one): Operation => ({ ...one, isRefused: true })),
  { ...modern('tools/call', waiting), mayWait: true },
  { ...inSession('tools/call', waiting), mayWait: true },
  modern('subscriptions/listen', { notifications: { resourceSubscriptions: resources, toolsListChanged: true } }),
  modern('server/discover'),
  inSession('ping'),
  inSession('tools/call', { name: 'whoami', arguments: {}, _meta: { progressToken: 'p' } }),
  inSession('resources/subscribe', { uri: 'rouse://task/:task' }),
  inSession('resources/unsubscribe', { uri: 'rouse://task/:task' }),
  inSession('logging/setLevel', { level: 'warning' }),
  notice('notifications/initialized', {}),
  notice('notifications/cancelled', { requestId: 1, reason: 'r' }),
  notice('notifications/progress', { progressToken: 'p', progress: 1, total: 2, message: 'm' }),
  notice('notifications/roots/list_changed', {}),
  {
    name: 'mcp initialize',
    method: 'POST',
    path: '/mcp',
    headers: accept,
    body: {
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { experimental: { 'neo-wake-substrate': { version: '1.0' } } },
        clientInfo,
      },
    },
  },
  {
    name: 'mcp stream',
    method: 'GET',
    path: '/mcp',
    headers: { Accept: 'text/event-stream', 'Mcp-Session-Id': ':mcp', 'Last-Event-ID': 'x' },
  },
  {
    name: 'mcp end of a session',
    method: 'DELETE',
    path: '/mcp',
    headers: { 'Mcp-Session-Id': ':spareMcp' },
  },
]

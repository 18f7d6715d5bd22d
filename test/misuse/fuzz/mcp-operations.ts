import type { JsonObject } from '../../../src/lib/json.ts'
import type { Operation } from './operations.ts'

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
      ...(typeof named === 'string' && !named.includes(':') ? { 'Mcp-Name': named } : {}),
    },
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
  }
}

/** A request in the session that mallory has begun. */
function inSession(method: string, params: JsonObject = {}): Operation {
  return {
    name: `mcp session ${method} ${params.name ?? ''}`,
    method: 'POST',
    path: '/mcp',
    headers: { ...accept, 'Mcp-Session-Id': ':mcp' },
    body: { jsonrpc: '2.0', id: 'a', method, params },
  }
}

const calls: readonly (readonly [tool: string, input: JsonObject])[] = [
  ['read_inbox', { unread: true, type: 'msg', order: 'oldest', limit: 5, agent: '@mallory' }],
  ['send_message', { to: '@mallory', subject: 's', body: 'b', type: 'msg', priority: 'high', payload: { a: [1] } }],
  ['send_message', { inReplyTo: ':message', body: 'b', taggedConcepts: ['a'], idempotencyKey: 'k' }],
  ['read_thread', { threadId: ':message', limit: 5 }],
  ['read_thread', { messageId: ':message', bodyFrom: 1 }],
  ['mark_message', { messageId: ':message', status: 'acked' }],
  ['list_tasks', { role: 'assignee', state: 'submitted', pageSize: 5 }],
  ['get_task', { taskId: ':task', historyLength: 2 }],
  ['move_task', { taskId: ':task', to: 'working', expectedVersion: 1, message: 'm', artifacts: [{ name: 'a' }] }],
  ['send_task', { to: '@mallory', text: 't', taskId: ':task', wait: false, taggedConcepts: ['a'], priority: 'low' }],
  ['claim', { action: 'claim', ref: 'r' }],
  ['claim', { action: 'handoff', ref: 'r', to: '@mallory', message: 'm' }],
  ['who', { agent: '@mallory', limit: 5 }],
  ['who', { q: 'x', skill: 's', tag: 't' }],
  ['whoami', {}],
  ['set_presence', { state: 'active', activeTurnId: 't', capabilities: ['steer'] }],
  ['grant', { action: 'grant', grantee: '@mallory', scope: 'CAN_REPLY_TO' }],
  ['grant', { action: 'list' }],
  ['manage_wake_subscription', { action: 'list' }],
  ['manage_wake_subscription', { action: 'resync', subscriptionId: ':subscription', sinceLogId: 0 }],
  ['manage_wake_subscription', { action: 'update', subscriptionId: ':subscription', status: 'active' }],
]

/** The requests to MCP, in both eras of the protocol. */
export const mcpOperations: readonly Operation[] = [
  ...calls.flatMap(([name, input]) => [
    modern('tools/call', { name, arguments: input }),
    inSession('tools/call', { name, arguments: input }),
  ]),
  modern('server/discover'),
  modern('tools/list', { cursor: '' }),
  modern('resources/list'),
  modern('resources/templates/list'),
  modern('resources/read', { uri: 'rouse://inbox/@mallory' }),
  modern('resources/read', { uri: 'rouse://task/:task' }),
  modern('prompts/get', { name: 'hand-over', arguments: { task: ':task', to: '@mallory' } }),
  modern('subscriptions/listen', { notifications: { resourceSubscriptions: ['rouse://inbox/@mallory'] } }),
  inSession('ping'),
  inSession('resources/read', { uri: 'rouse://thread/:message' }),
  inSession('resources/subscribe', { uri: 'rouse://task/:task' }),
  inSession('resources/unsubscribe', { uri: 'rouse://task/:task' }),
  inSession('logging/setLevel', { level: 'warning' }),
  inSession('notifications/cancelled', { requestId: 1, reason: 'r' }),
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
]

import type { Scope } from '../../words/callers.ts'
import type { AuditRule, Operation, OperatorReach, Reach } from './operation.ts'

/** The operations of A2A by their names in v1.0 (specification §5.3). */
export type A2aOperationName =
  | 'GetExtendedAgentCard'
  | 'SendMessage'
  | 'SendStreamingMessage'
  | 'SubscribeToTask'
  | 'CancelTask'
  | 'GetTask'
  | 'ListTasks'
  | 'CreateTaskPushNotificationConfig'
  | 'ListTaskPushNotificationConfigs'
  | 'GetTaskPushNotificationConfig'
  | 'DeleteTaskPushNotificationConfig'

/** An operation of A2A, and how each binding of each version calls it. `undefined`: that one does not have it. */
export interface A2aOperation extends Operation {
  readonly name: A2aOperationName
  /** HTTP+JSON below the agent's address. */
  readonly http: readonly string[]
  readonly legacyHttp: readonly string[]
  readonly legacyRpc: string | undefined
  readonly legacyGrpc: string | undefined
}

type Row = readonly [
  name: A2aOperationName,
  what: string,
  scopes: Scope | readonly [Scope, also: Scope],
  operator: OperatorReach,
  reach: Reach,
  audited: AuditRule,
  http: readonly string[],
  legacyHttp: readonly string[],
  legacyRpc: string | undefined,
  legacyGrpc: string | undefined,
]

const task = '/tasks/:taskId'
const configs = `${task}/pushNotificationConfigs`
const config = `${configs}/:configId`
const subscribe = `${task}\\:subscribe`

// In the order in which the SDK's router tries the paths: the first that matches counts.
const rows: readonly Row[] = [
  [
    'GetExtendedAgentCard',
    'read an extended card',
    'read',
    'any',
    'welcome',
    'no',
    ['GET /extendedAgentCard'],
    ['GET /v1/card'],
    'agent/getAuthenticatedExtendedCard',
    'GetAgentCard',
  ],
  [
    'SendMessage',
    'send a message',
    'send',
    'any',
    'welcome',
    'soon',
    ['POST /message\\:send'],
    ['POST /v1/message\\:send'],
    'message/send',
    'SendMessage',
  ],
  [
    'SendStreamingMessage',
    'send a message',
    'send',
    'any',
    'welcome',
    'soon',
    ['POST /message\\:stream'],
    ['POST /v1/message\\:stream'],
    'message/stream',
    'SendStreamingMessage',
  ],
  [
    'SubscribeToTask',
    'follow a task',
    'read',
    'any',
    'party',
    'no',
    [`GET ${subscribe}`, `POST ${subscribe}`],
    [`GET /v1${subscribe}`, `POST /v1${subscribe}`],
    'tasks/resubscribe',
    'TaskSubscription',
  ],
  [
    'CancelTask',
    'cancel a task',
    'send',
    'any',
    'party',
    'soon',
    [`POST ${task}\\:cancel`],
    [`POST /v1${task}\\:cancel`],
    'tasks/cancel',
    'CancelTask',
  ],
  ['GetTask', 'read a task', 'read', 'any', 'party', 'no', [`GET ${task}`], [`GET /v1${task}`], 'tasks/get', 'GetTask'],
  ['ListTasks', 'list tasks', 'read', 'any', 'party', 'no', ['GET /tasks'], [], undefined, undefined],
  [
    'CreateTaskPushNotificationConfig',
    'register push notifications',
    // A push has the content of the task.
    ['manage', 'read'],
    'any',
    'party',
    'first',
    [`POST ${configs}`],
    [`POST /v1${configs}`],
    'tasks/pushNotificationConfig/set',
    'CreateTaskPushNotificationConfig',
  ],
  [
    'ListTaskPushNotificationConfigs',
    'list push notifications',
    'read',
    'any',
    'party',
    'no',
    [`GET ${configs}`],
    [`GET /v1${configs}`],
    'tasks/pushNotificationConfig/list',
    'ListTaskPushNotificationConfig',
  ],
  [
    'GetTaskPushNotificationConfig',
    'read push notifications',
    'read',
    'own',
    'party',
    'no',
    [`GET ${config}`],
    [`GET /v1${config}`],
    'tasks/pushNotificationConfig/get',
    'GetTaskPushNotificationConfig',
  ],
  [
    'DeleteTaskPushNotificationConfig',
    'remove push notifications',
    'manage',
    'any',
    'party',
    'first',
    [`DELETE ${config}`],
    [`DELETE /v1${config}`],
    'tasks/pushNotificationConfig/delete',
    'DeleteTaskPushNotificationConfig',
  ],
]

/** The access to each A2A operation, the same in every binding and version. */
export const a2aOperations: readonly A2aOperation[] = rows.map(
  ([name, what, scopes, operator, reach, audited, http, legacyHttp, legacyRpc, legacyGrpc]) => {
    const [scope, also] = typeof scopes === 'string' ? ([scopes] as const) : scopes
    return {
      name,
      what,
      scope,
      ...(also ? { also } : {}),
      operator,
      agent: reach,
      peer: reach,
      audited,
      http,
      legacyHttp,
      legacyRpc,
      legacyGrpc,
    }
  },
)

const byName = new Map<string, A2aOperation>(a2aOperations.map((operation) => [operation.name, operation]))
const byLegacyRpc = new Map(a2aOperations.map((operation) => [operation.legacyRpc, operation]))
const byLegacyGrpc = new Map(a2aOperations.map((operation) => [operation.legacyGrpc, operation]))

export function a2aOperation(name: A2aOperationName): A2aOperation {
  return byName.get(name)!
}

/** The operation that a method of JSON-RPC names. */
export function rpcOperation(method: string, isLegacy: boolean): A2aOperation | undefined {
  return (isLegacy ? byLegacyRpc : byName).get(method)
}

/** The operation that a path of gRPC names, e.g. `/lf.a2a.v1.A2AService/SendMessage`. */
export function grpcOperation(path: string): A2aOperation | undefined {
  const [, service, method = ''] = path.split('/')
  if (service === 'lf.a2a.v1.A2AService') return byName.get(method)
  return service === 'a2a.v1.A2AService' ? byLegacyGrpc.get(method) : undefined
}

import type { JsonObject } from '../../src/lib/json.ts'
import type { LogEvent } from '../../src/log/event.ts'
import {
  initialState,
  initialWakeState,
  type PushSubscription,
  type WakeSubscription,
} from '../../src/registry/subscriptions/subscription.ts'
import { type EventType, eventTypes } from '../../src/words/events.ts'

export const noon = Date.parse('2026-04-26T10:00:00.000Z')

export function logEvent(type: EventType, logId: number, data: JsonObject = {}, createdAt = noon): LogEvent {
  return {
    projectId: 'default',
    logId,
    type,
    trigger: eventTypes[type],
    taskId: null,
    actor: '@lola',
    actorId: null,
    data,
    createdAt,
  }
}

export function messageSent(logId: number, data: JsonObject = {}, createdAt = noon): LogEvent {
  const message = {
    messageId: `MESSAGE:${logId}`,
    from: '@lola',
    subject: `subject ${logId}`,
    priority: 'normal',
    wakePolicy: 'immediate',
    taggedConcepts: [],
    isReplyTo: null,
    isBroadcast: false,
    threadId: `MESSAGE:${logId}`,
  }
  return logEvent('message.sent', logId, { ...message, ...data }, createdAt)
}

export function stateChanged(logId: number, data: JsonObject = {}, createdAt = noon): LogEvent {
  const change = {
    taskId: `task-${logId}`,
    previousState: 'submitted',
    newState: 'working',
    originator: '@lola',
    assignee: '@donna',
    priority: 'normal',
    taggedConcepts: [],
    lastModifiedAt: '2026-04-26T10:00:00.000Z',
  }
  return logEvent('task.state_changed', logId, { ...change, ...data }, createdAt)
}

export function permissionGranted(logId: number, data: JsonObject = {}, createdAt = noon): LogEvent {
  const grant = { scope: 'CAN_REPLY_TO', grantedBy: '@lola', grantedAt: '2026-04-26T10:00:00.000Z' }
  return logEvent('permission.granted', logId, { ...grant, ...data }, createdAt)
}

export function subscriptionOf(fields: Partial<WakeSubscription> = {}): WakeSubscription {
  return {
    ...initialWakeState,
    id: 'WAKE_SUB:1',
    kind: 'wake',
    projectId: 'default',
    agentId: 'agent_donna',
    audience: 'agent_donna',
    trigger: 'SENT_TO_ME',
    filters: {},
    harnessTarget: 'a2a-webhook',
    target: { url: 'http://127.0.0.1:9/' },
    coalesceMs: 0,
    signingKey: null,
    formerKeys: [],
    status: 'active',
    reason: null,
    cursorLogId: 0,
    resumeWithDigest: false,
    sessionId: null,
    keyId: null,
    managedBy: null,
    createdAt: noon,
    updatedAt: noon,
    ...fields,
  }
}

export function pushOf(fields: Partial<PushSubscription> = {}): PushSubscription {
  return {
    ...initialState,
    id: 'WAKE_SUB:2',
    kind: 'push',
    projectId: 'default',
    agentId: 'agent_lola',
    audience: 'task-1',
    target: { url: 'http://127.0.0.1:9/', configId: 'config-1', protocolVersion: '1.0' },
    status: 'active',
    reason: null,
    cursorLogId: 0,
    keyId: null,
    createdAt: noon,
    updatedAt: noon,
    ...fields,
  }
}

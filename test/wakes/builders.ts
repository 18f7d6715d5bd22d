import type { JsonObject } from '../../src/lib/json.ts'
import { type EventType, eventTypes, type LogEvent } from '../../src/log/event.ts'
import type { Subscription } from '../../src/registry/subscriptions/subscription.ts'

export const noon = Date.parse('2026-04-26T10:00:00.000Z')

export function logEvent(type: EventType, logId: number, data: JsonObject = {}, createdAt = noon): LogEvent {
  return {
    projectId: 'default',
    logId,
    type,
    trigger: eventTypes[type],
    taskId: null,
    actor: '@lola',
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

export function subscriptionOf(fields: Partial<Subscription> = {}): Subscription {
  return {
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
    previousKey: null,
    previousKeyUntil: null,
    status: 'active',
    reason: null,
    failedInARow: 0,
    cursorLogId: 0,
    lastEmittedLogId: null,
    claimedToLogId: null,
    generation: 0,
    generationAt: 0,
    resumeWithDigest: false,
    windowUntil: 0,
    dueAt: null,
    leaseOwner: null,
    sessionId: null,
    keyId: null,
    managedBy: null,
    createdAt: noon,
    updatedAt: noon,
    ...fields,
  }
}

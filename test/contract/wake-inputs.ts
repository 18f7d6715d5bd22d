import type { JsonObject } from '../../src/lib/json.ts'
import type { LogEvent } from '../../src/log/event.ts'
import type { WakeSubscription } from '../../src/registry/subscriptions/subscription.ts'
import { type EventType, eventTypes } from '../../src/words/events.ts'
import { newSigningKey } from '../../src/words/signature.ts'

/** Wakes made of these inputs are the same bytes for ever. */
export const emittedAt = Date.parse('2026-04-26T10:00:00.000Z')
export const nowSeconds = emittedAt / 1000
export const agentIdentity = '@donna'
export const subscriptionId = 'WAKE_SUB:3f0c9a52-7d41-4e8b-9c2d-5a1b6e7f8091'
const taskId = '0b6f1c1e-5a55-4f0e-8f5c-0d8a2f6b7c11'
export const messageId = 'MESSAGE:7a1d2c3b-4e5f-4a6b-8c7d-9e0f1a2b3c4d'
export const signingKey = newSigningKey(() => Buffer.from('rouse fixture key, not a secret!'))
export const nextSigningKey = newSigningKey(() => Buffer.from('rouse fixture key, the next one!'))

export const subscription: WakeSubscription = {
  id: subscriptionId,
  kind: 'wake',
  projectId: 'default',
  agentId: 'agent_2c9e4d10-8b7a-4f63-a1d5-6e0f7b8c9d21',
  audience: 'agent_2c9e4d10-8b7a-4f63-a1d5-6e0f7b8c9d21',
  trigger: 'SENT_TO_ME',
  filters: {},
  harnessTarget: 'a2a-webhook',
  target: { url: 'https://harness.example/wake' },
  coalesceMs: 0,
  signingKey: null,
  formerKeys: [],
  status: 'active',
  reason: null,
  failedInARow: 0,
  cursorLogId: 0,
  lastEmittedLogId: null,
  failing: null,
  claimedToLogId: null,
  generation: 0,
  generationAt: 0,
  resumeWithDigest: false,
  announcesWaiting: false,
  mcpId: null,
  expiresAt: null,
  hasGap: false,
  announcesHeld: 0,
  streamId: null,
  streamGateway: null,
  streamCapabilities: [],
  windowUntil: 0,
  dueAt: null,
  leaseOwner: null,
  sessionId: null,
  keyId: null,
  managedBy: null,
  parkedUntil: null,
  createdAt: 0,
  updatedAt: 0,
}

function logEvent(type: EventType, logId: number, secondsBefore: number, data: JsonObject): LogEvent {
  return {
    projectId: 'default',
    logId,
    type,
    trigger: eventTypes[type],
    taskId,
    actor: '@editor',
    actorId: null,
    data,
    createdAt: emittedAt - secondsBefore * 1000,
  }
}

export const messageSent = (logId = 12345, secondsBefore = 0, fields: JsonObject = {}): LogEvent =>
  logEvent('message.sent', logId, secondsBefore, {
    messageId,
    from: '@editor',
    // Not ASCII on purpose: a signature is over bytes, and here they are not characters.
    subject: 'Bitte Änderung 7 prüfen – eilig ✓',
    priority: 'high',
    taggedConcepts: ['code-review'],
    isReplyTo: null,
    isBroadcast: false,
    taskId,
    ...fields,
  })

export const stateChanged = (
  previousState: string | null,
  newState: string,
  logId = 12346,
  secondsBefore = 0,
): LogEvent =>
  logEvent('task.state_changed', logId, secondsBefore, {
    taskId,
    previousState,
    newState,
    originator: '@editor',
    assignee: '@donna',
    lastModifiedAt: new Date(emittedAt - secondsBefore * 1000).toISOString(),
  })

export const messageMoved = (status: 'seen' | 'acked' | 'resolved' | 'superseded', logId = 12349): LogEvent => ({
  ...logEvent(`message.${status}`, logId, 0, {
    messageId,
    threadId: messageId,
    subject: 'Lunch?',
    recipient: '@editor',
    previousStatus: 'sent',
    status,
    changedAt: new Date(emittedAt).toISOString(),
  }),
  taskId: null,
})

export const wakeReported = (logId = 12350): LogEvent => ({
  ...logEvent('wake.reported', logId, 0, {
    messageId,
    threadId: messageId,
    recipient: '@editor',
    step: 'held',
    source: 'codex',
    at: new Date(emittedAt).toISOString(),
    detail: 'turn_active',
  }),
  taskId: null,
})

export const permissionGranted = (logId = 12347): LogEvent =>
  logEvent('permission.granted', logId, 0, {
    permissionId: '5c1e7a90-3b2d-4f6a-8e9c-7d0a1b2c3d4e',
    scope: 'CAN_REPLY_TO',
    grantedBy: '@editor',
    grantedAt: new Date(emittedAt).toISOString(),
  })

/** A signal about another subscription of the same agent. */
export const signal = (type: EventType, fields: JsonObject, logId = 12350): LogEvent => ({
  ...logEvent(type, logId, 0, {
    subscriptionId: 'WAKE_SUB:8a7b6c5d-4e3f-4a2b-9c1d-0e9f8a7b6c5d',
    agent: '@donna',
    ...fields,
  }),
  actor: '@gateway',
  taskId: null,
})

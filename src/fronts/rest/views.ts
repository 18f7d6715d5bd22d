import type { JsonObject } from '../../lib/json.ts'
import type { LogEvent } from '../../log/event.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { isOvertaken, type WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import type { TaskDocument } from '../../tasks/task.ts'
import { attemptFor } from '../../wakes/channel.ts'
import type { Delivery } from '../../wakes/store/delivery-store.ts'

const instant = (ms: number): string => new Date(ms).toISOString()

export function agentView(agent: Agent): JsonObject {
  const { id: _id, projectId, createdAt, updatedAt, ...rest } = agent
  return { ...rest, project: projectId, createdAt: instant(createdAt), updatedAt: instant(updatedAt) }
}

/** A subscription as its owner reads it: never a key. `logTail`: events up to there are no longer kept. */
export function subscriptionView(
  subscription: WakeSubscription,
  agentIdentity: string,
  logTail: number,
  now: number,
): JsonObject {
  const { previousKeyUntil } = subscription
  return {
    subscriptionId: subscription.id,
    agentIdentity,
    trigger: subscription.trigger,
    filters: subscription.filters,
    harnessTarget: subscription.harnessTarget,
    harnessTargetMetadata: { ...subscription.target, coalesceWindow: subscription.coalesceMs / 1000 },
    status: subscription.status,
    reason: subscription.reason,
    ...(subscription.sessionId === null ? {} : { sessionId: subscription.sessionId }),
    failedInARow: subscription.failedInARow,
    cursorLogId: subscription.cursorLogId,
    ...(isOvertaken(subscription, logTail) ? { earliestLogId: logTail } : {}),
    lastEmittedLogId: subscription.lastEmittedLogId,
    ...(previousKeyUntil !== null && previousKeyUntil > now
      ? { previousKeyValidUntil: instant(previousKeyUntil) }
      : {}),
    createdAt: instant(subscription.createdAt),
    updatedAt: instant(subscription.updatedAt),
  }
}

export function deliveryView(delivery: Delivery, reader: Caller): JsonObject {
  const { fromLogId, toLogId, nextAttemptAt, createdAt, updatedAt, attempts, ...rest } = delivery
  return {
    ...rest,
    attempts: attempts.map((attempt) => ({ ...attemptFor(reader, attempt) })),
    // One event, or the first and the last that a digest covers.
    logIds: fromLogId === toLogId ? [toLogId] : [fromLogId, toLogId],
    ...(nextAttemptAt === null ? {} : { nextAttemptAt: instant(nextAttemptAt) }),
    createdAt: instant(createdAt),
    updatedAt: instant(updatedAt),
  }
}

export function taskView(document: TaskDocument): JsonObject {
  const { task, originator, assignee, statusMessage, history, artifacts, omitted } = document
  return {
    id: task.id,
    contextId: task.contextId,
    version: task.version,
    state: task.state,
    originator,
    assignee,
    priority: task.priority,
    taggedConcepts: task.taggedConcepts,
    status: {
      state: task.state,
      timestamp: instant(task.statusAt),
      ...(statusMessage ? { message: statusMessage } : {}),
    },
    history,
    /** More than `history` holds: ask with `historyLength`. */
    messageCount: task.messageCount,
    artifacts,
    ...(omitted ? { omitted } : {}),
    ...(task.metadata ? { metadata: task.metadata } : {}),
    ...(task.reason ? { reason: task.reason } : {}),
    ...(task.expiresAt === null ? {} : { expiresAt: instant(task.expiresAt) }),
    createdAt: instant(task.createdAt),
    lastModifiedAt: instant(task.updatedAt),
  }
}

/** A task in a list: what it is, without what was made. */
export function taskSummary(document: TaskDocument): JsonObject {
  const { artifacts: _unread, ...summary } = taskView(document)
  return summary
}

export function eventView(event: LogEvent): JsonObject {
  return {
    logId: event.logId,
    type: event.type,
    actor: event.actor,
    ...(event.taskId === null ? {} : { taskId: event.taskId }),
    data: event.data,
    createdAt: instant(event.createdAt),
  }
}

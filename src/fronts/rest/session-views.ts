import type { JsonObject } from '../../lib/json.ts'
import { presenceOf } from '../../registry/sessions/presence.ts'
import type { Session } from '../../registry/sessions/session.ts'
import type { HeldWake } from '../../wakes/store/held-store.ts'

const instant = (ms: number): string => new Date(ms).toISOString()

/** A session as its agent and the operator read it. */
export function sessionView(session: Session, agentIdentity: string, now: number): JsonObject {
  const { id, surface, capabilities, pid, processStartedAt, lastSeenAt, createdAt, endedAt } = session
  return {
    sessionId: id,
    agent: agentIdentity,
    surface,
    capabilities,
    ...(pid === null ? {} : { pid }),
    ...(processStartedAt === null ? {} : { startedAt: instant(processStartedAt) }),
    status: endedAt === null ? 'live' : 'ended',
    presence: presenceView(session, now),
    lastSeenAt: instant(lastSeenAt),
    createdAt: instant(createdAt),
    ...(endedAt === null ? {} : { endedAt: instant(endedAt), reason: session.endReason }),
    ...(session.successorId === null ? {} : { newMasterSession: session.successorId }),
  }
}

/** What a harness does, by its own word, and how old that is; `unknown` without a session and when it is stale. Source: S1-8. */
export function presenceView(session: Session | undefined, now: number): JsonObject {
  const { state, source, activeTurnId, asOf } = presenceOf(session, now)
  return {
    state,
    source,
    ...(activeTurnId === null ? {} : { activeTurnId }),
    asOf: asOf === null ? null : instant(asOf),
    ageMs: asOf === null ? null : Math.max(0, now - asOf),
  }
}

/** What the team sees of an agent's harness. */
export function teamView(session: Session | undefined, now: number): JsonObject {
  return {
    presence: presenceView(session, now),
    session: session
      ? {
          sessionId: session.id,
          surface: session.surface,
          capabilities: session.capabilities,
          lastSeenAt: instant(session.lastSeenAt),
        }
      : null,
  }
}

/** An event that woke nobody: a pointer to it, and why. */
export function heldView({ event, action, reason, presence }: HeldWake): JsonObject {
  const { logId, type, taskId, createdAt, data } = event
  return {
    logId,
    type,
    action,
    reason,
    ...(presence === null ? {} : { presence }),
    ...(typeof data.messageId === 'string' ? { messageId: data.messageId } : {}),
    ...(taskId === null ? {} : { taskId }),
    createdAt: instant(createdAt),
  }
}

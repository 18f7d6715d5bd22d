import type { Agent } from '../../../registry/agents/agent.ts'
import type { Session } from '../../../registry/sessions/session.ts'
import { instant } from '../instant.ts'
import { type PresenceView, presenceView } from '../sessions/view.ts'

/** An agent. Instants are ISO 8601. */
export interface AgentView extends Omit<Agent, 'id' | 'projectId' | 'createdAt' | 'updatedAt'> {
  readonly project: string
  readonly createdAt: string
  readonly updatedAt: string
}

/** An agent, what its harness does, and its live session. */
export interface PresentAgentView extends AgentView {
  readonly presence: PresenceView
  readonly session: {
    readonly sessionId: string
    readonly surface: string
    readonly capabilities: readonly string[]
    readonly lastSeenAt: string
  } | null
  /** The last sign of life of its session, or the last use of one of its keys, to the minute; null: never. */
  readonly lastSeenAt: string | null
}

/** A new agent, and its first key. The key is shown only here. */
export interface NewAgentView {
  readonly agent: AgentView
  readonly apiKey: string
  readonly keyId: string
}

export function agentView(agent: Agent): AgentView {
  const { id: _id, handle, projectId, createdAt, updatedAt, ...rest } = agent
  return { handle, ...rest, project: projectId, createdAt: instant(createdAt), updatedAt: instant(updatedAt) }
}

/** @param usedAt when one of its keys was last used, ms since the epoch */
export function presentAgentView(
  agent: Agent,
  session: Session | undefined,
  usedAt: number | undefined,
  now: number,
): PresentAgentView {
  const seenAt = Math.max(session?.lastSeenAt ?? 0, usedAt ?? 0)
  const { handle, ...view } = agentView(agent)
  return {
    handle,
    ...view,
    presence: presenceView(session, now),
    session: session
      ? {
          sessionId: session.id,
          surface: session.surface,
          capabilities: session.capabilities,
          lastSeenAt: instant(session.lastSeenAt),
        }
      : null,
    lastSeenAt: seenAt === 0 ? null : instant(seenAt),
  }
}

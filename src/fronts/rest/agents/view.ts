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
}

/** A new agent, and its first key. The key is shown only here. */
export interface NewAgentView {
  readonly agent: AgentView
  readonly apiKey: string
  readonly keyId: string
}

export function agentView(agent: Agent): AgentView {
  const { id: _id, projectId, createdAt, updatedAt, ...rest } = agent
  return { ...rest, project: projectId, createdAt: instant(createdAt), updatedAt: instant(updatedAt) }
}

export function presentAgentView(agent: Agent, session: Session | undefined, now: number): PresentAgentView {
  return {
    ...agentView(agent),
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

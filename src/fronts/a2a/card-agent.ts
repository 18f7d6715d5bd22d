import type { CardAgent } from '../../agent-card/documents.ts'
import type { Agent } from '../../registry/agents/agent.ts'

/** An agent as its card is drawn from it. */
export function cardAgent(agent: Agent): CardAgent {
  return { ...agent, project: agent.projectId, version: String(agent.version) }
}

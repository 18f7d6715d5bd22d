import type { CardAgent } from '../../agent-card/documents.ts'
import type { Agent } from '../../registry/agents/agent.ts'

/** The fields of an agent that its card is made of. */
export function cardAgent(agent: Agent): CardAgent {
  return { ...agent, project: agent.projectId, version: String(agent.version) }
}

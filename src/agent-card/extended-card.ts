import type { AgentCard, AgentExtension } from '@a2a-js/sdk'
import type { CardSubject } from './card.ts'

export const agentExtensionUri = 'urn:rouse:agent:v1'

/** The fields that the extended card adds to the public one. */
export interface ExtendedSubject extends CardSubject {
  aliases: readonly string[]
  /** Who may address the agent: a JSON value, passed on as registered. */
  access: unknown
}

/** The authenticated caller that requests an extended card. */
export interface CardCaller {
  projectId: string
}

/** Adds the agent's addresses and, for callers of its own project, its access rules (A2A section 13.3). Unsigned. */
export function extendCard(card: AgentCard, agent: ExtendedSubject, caller: CardCaller): AgentCard {
  const extension: AgentExtension = {
    uri: agentExtensionUri,
    description: 'The addresses of the agent and who may use them.',
    required: false,
    params: {
      handle: agent.handle,
      project: agent.project,
      aliases: [...agent.aliases],
      ...(isInsider(agent, caller) ? { access: agent.access } : {}),
    },
  }
  const extensions = [extension, ...(card.capabilities?.extensions ?? [])]
  return { ...card, capabilities: { ...card.capabilities, extensions } }
}

/** Access rules name other agents, so only callers of the project may see them. */
export function isInsider(agent: CardSubject, caller: CardCaller): boolean {
  return agent.projectId === caller.projectId
}

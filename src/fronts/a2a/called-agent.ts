import { Problem } from '../../errors.ts'
import type { Agent } from '../../registry/agent.ts'
import { requireAgent } from '../../registry/agents.ts'
import type { Caller } from '../../registry/caller.ts'
import { findGrant, findGrantBetween } from '../../registry/permission-store.ts'
import { defaultProject, requireProject } from '../../registry/project-store.ts'
import type { Reader } from '../../storage/database.ts'

/** Where an address points. */
export interface AgentAddress {
  readonly project: string
  readonly handle: string
}

/**
 * The agent at an address. To all but its project's callers a private agent is as absent as one that does not exist, to
 * the letter (§3.3.2); `authenticated` is asked only then. Errors: `project-not-found`, `agent-not-found`.
 */
export async function findCalledAgent(
  db: Reader,
  { project, handle }: AgentAddress,
  authenticated: () => Promise<Caller>,
): Promise<Agent> {
  const projectId = project === defaultProject ? project : await requireProject(db, project)
  try {
    const agent = await requireAgent(db, projectId, handle)
    if (agent.access !== 'private' || (await mayKnow(db, await authenticated(), agent))) return agent
  } catch (error) {
    if (!(error instanceof Problem) || !['agent-not-found', 'unauthenticated'].includes(error.code)) throw error
  }
  throw new Problem('agent-not-found', {
    detail: `No agent ${handle}. If it is a private one, send a key of its project: Authorization: Bearer rk_…`,
  })
}

async function mayKnow(db: Reader, caller: Caller, agent: Agent): Promise<boolean> {
  return isAtHome(caller, agent) || findGrantBetween(db, agent.id, caller.id)
}

/**
 * Sending takes a key of the same project for all but public agents, or the agent's grant of CAN_REPLY_TO. Answers the caller
 * as it acts there: the operator's key is every project's. Errors: `forbidden`. Source: S1-26.
 */
export async function requireWelcome(db: Reader, caller: Caller, agent: Agent): Promise<Caller> {
  if (caller.kind === 'operator') return { ...caller, projectId: agent.projectId }
  if (agent.access === 'public' || isAtHome(caller, agent)) return caller
  if (await findGrant(db, agent.id, caller.id, 'CAN_REPLY_TO')) return caller
  throw new Problem('forbidden', { detail: `${agent.handle} takes messages from its own project only.` })
}

function isAtHome(caller: Caller, agent: Agent): boolean {
  return caller.kind === 'operator' || caller.projectId === agent.projectId
}

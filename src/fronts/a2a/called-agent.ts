import { Problem } from '../../errors.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import { findAccess, requireAgent } from '../../registry/agents/agents.ts'
import { type Caller, operates } from '../../registry/callers/caller.ts'
import { findGrant, findGrantBetween } from '../../registry/permissions/permission-store.ts'
import type { Reader } from '../../storage/database.ts'

/** The agent that an address names. */
export interface AgentAddress {
  readonly project: string
  readonly handle: string
}

/**
 * The agent at an address. A private agent is hidden from callers of other projects: they get exactly the answer for an agent,
 * or a project, that does not exist (specification §3.3.2). `authenticated` is called for private agents only. Errors:
 * `agent-not-found`.
 */
export async function findCalledAgent(
  db: Reader,
  { project, handle }: AgentAddress,
  authenticated: () => Promise<Caller>,
): Promise<Agent> {
  try {
    const agent = await requireAgent(db, project, handle)
    if (agent.access !== 'private' || (await mayKnow(db, await authenticated(), agent))) return agent
  } catch (error) {
    if (!(error instanceof Problem) || !['agent-not-found', 'unauthenticated'].includes(error.code)) throw error
  }
  throw absent(handle)
}

/** Checks that an agent exists and is not private, and reads no more of it than that. Errors: `agent-not-found`. */
export async function requireOpenAgent(db: Reader, { project, handle }: AgentAddress): Promise<void> {
  const access = await findAccess(db, project, handle)
  if (access === undefined || access === 'private') throw absent(handle)
}

function absent(handle: string): Problem {
  return new Problem('agent-not-found', {
    detail: `There is no agent ${handle}.`,
    remedy: 'use-key-of-project',
  })
}

async function mayKnow(db: Reader, caller: Caller, agent: Agent): Promise<boolean> {
  return isOfProject(caller, agent) || findGrantBetween(db, agent.id, caller.id)
}

/**
 * A caller may call public agents, agents of its own project, and agents that granted it CAN_REPLY_TO. Returns the caller as it
 * acts there: an operator acts in the agent's project. Errors: `forbidden`. Source: S1-26.
 */
export async function requireMayCall(db: Reader, caller: Caller, agent: Agent): Promise<Caller> {
  if (operates(caller, agent.projectId)) return { ...caller, projectId: agent.projectId }
  if (caller.kind === 'operator') {
    throw new Problem('forbidden', { detail: `This operator key is not valid for the project of ${agent.handle}.` })
  }
  if (agent.access === 'public' || isOfProject(caller, agent)) return caller
  if (await findGrant(db, agent.id, caller.id, 'CAN_REPLY_TO')) return caller
  throw new Problem('forbidden', { detail: `${agent.handle} accepts messages only from its own project.` })
}

function isOfProject(caller: Caller, agent: Agent): boolean {
  return operates(caller, agent.projectId) || caller.projectId === agent.projectId
}

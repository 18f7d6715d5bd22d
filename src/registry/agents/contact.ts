import { Problem } from '../../errors.ts'
import type { Reader } from '../../storage/database.ts'
import { type Caller, operates } from '../callers/caller.ts'
import { findGrant, listGrantors } from '../permissions/permission-store.ts'
import type { Agent } from './agent.ts'

/**
 * Whether an agent takes a caller's mail: from everybody of its project, or from those it granted CAN_REPLY_TO, as its contact
 * policy says; from other projects only with the grant. Always from a person, from itself, and as the answer to what it wrote.
 * @param answered the id of the agent whose message this answers
 */
export async function acceptsMailFrom(
  reader: Reader,
  caller: Caller,
  agent: Agent,
  answered?: string,
): Promise<boolean> {
  if (operates(caller, agent.projectId) || caller.id === agent.id || answered === agent.id) return true
  if (agent.contactPolicy === 'everybody' && agent.projectId === caller.projectId) return true
  return (await findGrant(reader, agent.id, caller.id, 'CAN_REPLY_TO')) !== undefined
}

/** Those of them that take a caller's mail. One question, however many they are. */
export async function filterAcceptingMailFrom(
  reader: Reader,
  caller: Caller,
  agents: readonly Agent[],
): Promise<Agent[]> {
  const isOpen = (agent: Agent) =>
    operates(caller, agent.projectId) || (agent.contactPolicy === 'everybody' && agent.projectId === caller.projectId)
  if (agents.every(isOpen)) return [...agents]
  const grantors = new Set(await listGrantors(reader, caller.id, 'CAN_REPLY_TO'))
  return agents.filter((agent) => isOpen(agent) || agent.id === caller.id || grantors.has(agent.id))
}

/** What a caller is told whose mail an agent does not take, with the field that named the agent, if one did. */
export function contactRefused(caller: Caller, agent: Agent, field?: string): Problem {
  const why =
    agent.projectId === caller.projectId
      ? `${agent.handle} takes mail of those on its list only`
      : `${agent.projectId}:${agent.handle} takes mail of project ${caller.projectId} by permission only`
  return new Problem('forbidden', {
    ...(field === undefined ? {} : { field }),
    detail: `${field === undefined ? '' : `${field}: `}${why}. It grants you CAN_REPLY_TO with \`rouse permission add\`, or the operator does; answering its own messages needs no grant.`,
  })
}

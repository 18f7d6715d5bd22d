import { Problem } from '../../errors.ts'
import type { Reader } from '../../storage/database.ts'
import { type Caller, operates } from '../callers/caller.ts'
import { findGrant } from '../permissions/permission-store.ts'
import type { Agent } from './agent.ts'

/**
 * True when an agent accepts a caller's mail. By its contact policy: from its whole project, or from agents that it granted
 * CAN_REPLY_TO. From other projects only with that grant. Always from an operator, from itself, and in answer to its own mail.
 * @param answered the id of the agent whose message this answers
 */
export async function acceptsMailFrom(
  reader: Reader,
  caller: Caller,
  agent: Pick<Agent, 'id' | 'projectId' | 'contactPolicy'>,
  answered?: string,
): Promise<boolean> {
  if (operates(caller, agent.projectId) || caller.id === agent.id || answered === agent.id) return true
  if (agent.contactPolicy === 'everybody' && agent.projectId === caller.projectId) return true
  return (await findGrant(reader, agent.id, caller.id, 'CAN_REPLY_TO')) !== undefined
}

/** The problem of a caller whose mail an agent does not accept. `field`: the one that named the agent. */
export function contactRefused(caller: Caller, agent: Pick<Agent, 'projectId' | 'handle'>, field?: string): Problem {
  const why =
    agent.projectId === caller.projectId
      ? `${agent.handle} accepts mail only from agents on its list`
      : `${agent.projectId}:${agent.handle} accepts mail from project ${caller.projectId} only with a permission`
  return new Problem('forbidden', {
    ...(field === undefined ? {} : { field }),
    detail: `${field === undefined ? '' : `${field}: `}${why}.`,
    remedy: 'be-granted-mail',
  })
}

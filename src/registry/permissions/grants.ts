import { Problem } from '../../errors.ts'
import type { Reader } from '../../storage/database.ts'
import type { Agent } from '../agents/agent.ts'
import type { Caller } from '../callers/caller.ts'
import { findGrant } from './permission-store.ts'

/** True when a caller may read an agent's mail: the agent itself, the operator of its project, or an agent with the grant. Source: S1-26. */
export async function mayReadInbox(
  reader: Reader,
  caller: Caller,
  agent: Pick<Agent, 'id' | 'projectId'>,
): Promise<boolean> {
  if (caller.kind === 'operator') return caller.projectId === agent.projectId
  return caller.id === agent.id || (await findGrant(reader, agent.id, caller.id, 'CAN_READ_INBOX_OF')) !== undefined
}

/** True when a caller may manage an agent's subscriptions: the agent itself, the operator, or an agent with the grant. Source: S1-45. */
export async function mayManageSubscriptions(reader: Reader, caller: Caller, agentId: string): Promise<boolean> {
  if (caller.kind === 'operator' || caller.id === agentId) return true
  return (await findGrant(reader, agentId, caller.id, 'CAN_MANAGE_SUBSCRIPTIONS_OF')) !== undefined
}

/** True when a caller manages another agent's subscription by a grant, not as its owner or as an operator. */
export function isGrantee(caller: Caller, agentId: string): boolean {
  return caller.kind === 'agent' && caller.id !== agentId
}

/** Returns the id of the agent that manages another's subscription by a grant; null for the owner and the operator. */
export function managerOf(caller: Caller, agentId: string): string | null {
  return isGrantee(caller, agentId) ? caller.id : null
}

/** Requires the right to manage an agent's subscriptions. Errors: `forbidden`, naming the missing grant. */
export async function requireMayManage(reader: Reader, caller: Caller, agent: Agent): Promise<void> {
  if (await mayManageSubscriptions(reader, caller, agent.id)) return
  throw new Problem('forbidden', {
    field: 'agentIdentity',
    detail: `agentIdentity: ${agent.handle} has not granted you CAN_MANAGE_SUBSCRIPTIONS_OF. Leave it out to subscribe for yourself.`,
  })
}

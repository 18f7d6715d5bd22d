import { Problem } from '../../errors.ts'
import { requireAddressed } from '../../registry/agents/addresses.ts'
import { findAgentById } from '../../registry/agents/agent-store.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Reader } from '../../storage/database.ts'

/** The agent that a request is about. */
export interface NamedAgent {
  readonly id: string
  readonly handle: string
  readonly projectId: string
}

/** The caller's own agent, or the one that an operator names. Errors: `invalid-request`, `forbidden`, `agent-not-found`. */
export async function oneAgent(db: Reader, caller: Caller, address: string | undefined): Promise<NamedAgent> {
  const named = await namedAgent(db, caller, address)
  if (named) return named
  throw new Problem('invalid-request', {
    field: 'agent',
    detail: 'agent: is required of an operator, e.g. agent=@donna.',
  })
}

/** The same; undefined where an operator names none. */
export async function namedAgent(
  db: Reader,
  caller: Caller,
  address: string | undefined,
): Promise<NamedAgent | undefined> {
  const own = { id: caller.id, handle: caller.identity, projectId: caller.projectId }
  if (address === undefined) return caller.kind === 'agent' ? own : undefined
  const { id } = await requireAddressed(db, caller, address, 'agent')
  if (caller.kind === 'agent' && id !== caller.id) {
    throw new Problem('forbidden', {
      field: 'agent',
      detail: 'agent: an agent sees this of itself only. Leave it out.',
    })
  }
  const agent = await findAgentById(db, id)
  // Another project's agents are the business of its own operators: name the project in the header.
  if (agent && agent.projectId !== caller.projectId) {
    throw new Problem('agent-not-found', { field: 'agent', detail: `agent: ${address} is of another project.` })
  }
  return agent && { id: agent.id, handle: agent.handle, projectId: agent.projectId }
}

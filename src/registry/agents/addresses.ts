import { Problem } from '../../errors.ts'
import type { Reader } from '../../storage/database.ts'
import { type Caller, operates } from '../callers/caller.ts'
import { findGrantBetween } from '../permissions/permission-store.ts'
import { findProject } from '../projects/project-store.ts'
import { parseProject } from '../projects/projects.ts'
import type { Agent } from './agent.ts'
import { findAgent, listAgents } from './agent-store.ts'
import { acceptsMailFrom, contactRefused, filterAcceptingMailFrom } from './contact.ts'
import { findRole } from './role-addresses.ts'
import { UnknownAddress } from './unknown-address.ts'

/** The agents that an address names: some of one project, or all of it. */
interface Resolved {
  readonly projectId: string
  readonly agents: readonly Agent[]
  readonly broadcast: boolean
}

/**
 * Resolves an address: `@donna` (a handle or alias), `Donna` (the same, or a display name of at most 12 letters),
 * `s4f1c09` (a live session), `has-telegram` (a capability that one live session has), `*` or `all` (everybody); each also of
 * another project, as `web:…`. Mail to a name reaches the agent, whichever session speaks for it. Source: S2-3, S4-3, S4-4, S4-14.
 * Errors: `agent-not-found` (`UnknownAddress`), `ambiguous-address` with the candidates, `forbidden`; `project-not-found` for
 * operators only: to other callers, a project that does not exist looks like an empty one.
 * @param answered the id of the agent whose message this answers: answering is always allowed
 */
export async function resolveAddress(reader: Reader, caller: Caller, to: string, answered?: string): Promise<Resolved> {
  const { projectId, name } = await parseAddress(reader, caller, to, 'to')
  if (name === '*' || name.toLowerCase() === 'all') return resolveEverybody(reader, caller, projectId)
  const agent = await requireOne(reader, caller, projectId, name, 'to')
  if (!(await acceptsMailFrom(reader, caller, agent, answered))) throw contactRefused(caller, agent, 'to')
  return { projectId, agents: [agent], broadcast: false }
}

/**
 * Returns the one agent that an address names, for reading and granting. An agent that the caller may not see is not found.
 * Errors: `agent-not-found`, `ambiguous-address`, `invalid-request`; `project-not-found` for the operator.
 */
export async function requireAddressed(reader: Reader, caller: Caller, address: string, field: string): Promise<Agent> {
  const { projectId, name } = await parseAddress(reader, caller, address, field)
  if (name !== '*' && name.toLowerCase() !== 'all') return requireOne(reader, caller, projectId, name, field)
  throw new Problem('invalid-request', {
    field,
    detail: `${field}: must name one agent. "${address}" names everybody.`,
  })
}

/** Splits `web:@donna` into project `web` and name `@donna`. The default is the caller's project. */
async function parseAddress(
  reader: Reader,
  caller: Caller,
  address: string,
  field: string,
): Promise<{ projectId: string; name: string }> {
  const [, qualifier, rest = ''] = /^(?:([^:]*):)?(.*)$/s.exec(address.trim()) ?? []
  const name = rest.trim()
  if (name === '' || name === '@') {
    throw new Problem('invalid-request', {
      field,
      detail: `${field}: "${address}" is not an address. Write @donna, web:@donna for an agent of project web, or * for everybody.`,
    })
  }
  if (qualifier === undefined) return { projectId: caller.projectId, name }
  const projectId = parseProject(qualifier, field)
  if (projectId !== caller.projectId && operates(caller, projectId) && !(await findProject(reader, projectId))) {
    throw new Problem('project-not-found', { field, detail: `${field}: there is no project "${projectId}".` })
  }
  return { projectId, name }
}

/** Returns the agents of a project that accept the caller's mail. If there are none: `forbidden` for another project, an empty list for the caller's own. */
async function resolveEverybody(reader: Reader, caller: Caller, projectId: string): Promise<Resolved> {
  const agents = await filterAcceptingMailFrom(reader, caller, await listAgents(reader, projectId))
  if (agents.length > 0 || projectId === caller.projectId) return { projectId, agents, broadcast: true }
  throw new Problem('forbidden', {
    field: 'to',
    detail: `to: no agent of project ${projectId} has granted you CAN_REPLY_TO. An agent or the operator can grant it with \`rouse permission add\`.`,
  })
}

/** Names belong to one agent, so they come before sessions and capabilities. An address with `@` is only a name. */
async function requireOne(
  reader: Reader,
  caller: Caller,
  projectId: string,
  name: string,
  field: string,
): Promise<Agent> {
  const named = await findAgent(reader, projectId, `@${name.replace(/^@/, '').toLowerCase()}`)
  if (named && (await isVisible(reader, caller, named))) return named
  const agents = name.startsWith('@') ? [] : await findRole(reader, projectId, name)
  const visible: Agent[] = []
  for (const agent of agents) if (await isKnown(reader, caller, agent)) visible.push(agent)
  if (visible.length === 1) return visible[0]!
  throw visible.length > 1 ? ambiguous(name, visible, field) : new UnknownAddress({ projectId, name, field })
}

/** A private agent is visible to its own project, to agents that it granted something, and to the operator. */
async function isVisible(reader: Reader, caller: Caller, agent: Agent): Promise<boolean> {
  return agent.access !== 'private' || isKnown(reader, caller, agent)
}

/** Sessions and capabilities are visible to the agent's own project, to agents that it granted something, and to the operator. */
async function isKnown(reader: Reader, caller: Caller, agent: Agent): Promise<boolean> {
  if (operates(caller, agent.projectId) || agent.projectId === caller.projectId) return true
  return findGrantBetween(reader, agent.id, caller.id)
}

function ambiguous(name: string, agents: readonly Agent[], field: string): Problem {
  const candidates = agents.map(({ handle }) => handle).sort()
  return new Problem('ambiguous-address', {
    field,
    detail: `${field}: "${name}" names ${candidates.join(' and ')}. Name one of them.`,
    extra: { candidates },
  })
}

import { Problem } from '../../errors.ts'
import type { Reader } from '../../storage/database.ts'
import { type Caller, operates } from '../callers/caller.ts'
import { findProject } from '../projects/project-store.ts'
import { parseProject } from '../projects/projects.ts'
import { type Addressee, findAddressee, listAccepting, listEverybody, type Viewer } from './addressee-store.ts'
import { acceptsMailFrom, contactRefused } from './contact.ts'
import { findRole } from './role-addresses.ts'
import { UnknownAddress } from './unknown-address.ts'

/** The agents that an address names: some of one project, or all of it. */
interface Resolved {
  readonly projectId: string
  readonly agents: readonly Addressee[]
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
  if (isEverybody(name)) return resolveEverybody(reader, caller, projectId)
  const agent = await requireOne(reader, caller, projectId, name, 'to')
  if (!(await acceptsMailFrom(reader, caller, agent, answered))) throw contactRefused(caller, agent, 'to')
  return { projectId, agents: [agent], broadcast: false }
}

/**
 * Returns the one agent that an address names, for reading and granting. An agent that the caller may not see is not found.
 * Errors: `agent-not-found`, `ambiguous-address`, `invalid-request`; `project-not-found` for the operator.
 */
export async function requireAddressed(
  reader: Reader,
  caller: Caller,
  address: string,
  field: string,
): Promise<Addressee> {
  const { projectId, name } = await parseAddress(reader, caller, address, field)
  if (!isEverybody(name)) return requireOne(reader, caller, projectId, name, field)
  throw new Problem('invalid-request', {
    field,
    detail: `${field}: must name one agent. "${address}" names everybody.`,
  })
}

/**
 * True when an address takes a search, or leads into a project that the caller does not belong to: a write transaction, for which others
 * wait, is not the place to find out that it names nobody for this caller. Pure.
 */
export function isFarAddress(caller: Caller, address: string): boolean {
  const { qualifier, name } = split(address)
  const isOther = qualifier !== undefined && qualifier.trim().toLowerCase() !== caller.projectId
  return isOther || !(name.startsWith('@') || isEverybody(name))
}

const isEverybody = (name: string): boolean => name === '*' || name.toLowerCase() === 'all'

function split(address: string): { qualifier: string | undefined; name: string } {
  const [, qualifier, rest = ''] = /^(?:([^:]*):)?(.*)$/s.exec(address.trim()) ?? []
  return { qualifier, name: rest.trim() }
}

/** Splits `web:@donna` into project `web` and name `@donna`. The default is the caller's project. */
async function parseAddress(
  reader: Reader,
  caller: Caller,
  address: string,
  field: string,
): Promise<{ projectId: string; name: string }> {
  const { qualifier, name } = split(address)
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
  const agents = operates(caller, projectId)
    ? await listEverybody(reader, projectId)
    : await listAccepting(reader, caller, projectId)
  if (agents.length > 0 || projectId === caller.projectId) return { projectId, agents, broadcast: true }
  throw new Problem('forbidden', {
    field: 'to',
    detail: `to: no agent of project ${projectId} has granted you CAN_REPLY_TO.`,
    remedy: 'be-granted-broadcasts',
  })
}

/** Names belong to one agent, so they come before sessions and capabilities. An address with `@` is only a name. */
async function requireOne(
  reader: Reader,
  caller: Caller,
  projectId: string,
  name: string,
  field: string,
): Promise<Addressee> {
  const viewer = viewerOf(caller, projectId)
  const named = await findAddressee(reader, viewer, projectId, `@${name.replace(/^@/, '').toLowerCase()}`)
  if (named) return named
  const agents = name.startsWith('@') ? [] : await findRole(reader, viewer, projectId, name)
  if (agents.length === 1) return agents[0]!
  throw agents.length > 1 ? ambiguous(name, agents, field) : new UnknownAddress({ projectId, name, field })
}

/**
 * A private agent is visible to its own project, to agents that it granted something, and to the operator; so are the sessions and
 * capabilities of every agent.
 */
function viewerOf(caller: Caller, projectId: string): Viewer {
  return { callerId: caller.id, seesAll: operates(caller, projectId) || projectId === caller.projectId }
}

/** A project may have thousands of sessions with one capability. */
const candidatesMax = 20

function ambiguous(name: string, agents: readonly Addressee[], field: string): Problem {
  const candidates = agents
    .map(({ handle }) => handle)
    .sort()
    .slice(0, candidatesMax)
  const named =
    candidates.join(' and ') + (agents.length > candidatesMax ? ` and ${agents.length - candidatesMax} more` : '')
  return new Problem('ambiguous-address', {
    field,
    detail: `${field}: "${name}" names ${named}. Name one of them.`,
    extra: { candidates },
  })
}

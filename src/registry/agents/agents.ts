import { Problem } from '../../errors.ts'
import { newAgentId } from '../../lib/ids.ts'
import { inputLimits } from '../../limits.ts'
import type { AppendEvents } from '../../log/append.ts'
import type { Database, Reader, Transaction } from '../../storage/database.ts'
import { createApiKey } from '../callers/api-key-store.ts'
import { type Caller, requireOperator, requireSelf } from '../callers/caller.ts'
import { lastEnd } from '../callers/new-key.ts'
import { scopes } from '../callers/scopes.ts'
import { findProject } from '../projects/project-store.ts'
import { callerIn } from '../projects/projects.ts'
import { limitExceeded, limitFor } from '../shares/shares.ts'
import {
  type Access,
  type Agent,
  addressOfName,
  type ContactPolicy,
  parseHandle,
  type Skill,
  type WakePolicy,
} from './agent.ts'
import { accessOf, countAgents, findAgent, insertAgent, lockAgent, updateAgent } from './agent-store.ts'

export interface RegistryContext {
  readonly db: Database
  readonly append: AppendEvents
  /**
   * Called after the commit that takes keys or agents away, with their ids: whatever is open under them ends, on every gateway.
   */
  readonly revoked: (ids: readonly string[]) => void
}

/** What registering and changing an agent may say. Absent fields keep their value, or take the default. */
export interface AgentInput {
  handle?: string
  displayName?: string | null
  description?: string | null
  aliases?: string[]
  skills?: Skill[]
  inputModes?: string[]
  outputModes?: string[]
  access?: Access
  contactPolicy?: ContactPolicy
  defaultWakePolicy?: WakePolicy
}

/** Any media type: the gateway keeps what it is given. A narrower list is enforced as the card claims it. */
const anyMode = ['text/plain', 'application/json', '*/*']

/**
 * Registers an agent and makes its first key, which is told once. Operator only. Errors: `agent-exists`, `project-not-found`.
 * @param input.project where it belongs; the caller's project when left out
 */
export async function registerAgent(
  context: RegistryContext,
  caller: Caller,
  { project, ...input }: AgentInput & { handle: string; project?: string },
): Promise<{ agent: Agent; keyId: string; apiKey: string }> {
  requireOperator(caller, 'register agents')
  const { projectId } = await callerIn(context.db, caller, project)
  const handle = parseHandle(input.handle)
  const aliases = parseAliases(input.aliases ?? [], handle)
  return context.db.transaction(async (tx) => {
    await requireRoomForAgent(tx, projectId)
    const agent: Agent = {
      id: newAgentId(),
      projectId,
      handle,
      displayName: input.displayName ?? null,
      description: input.description ?? null,
      aliases,
      skills: input.skills ?? [],
      inputModes: input.inputModes ?? anyMode,
      outputModes: input.outputModes ?? anyMode,
      access: input.access ?? 'project',
      contactPolicy: input.contactPolicy ?? 'everybody',
      defaultWakePolicy: input.defaultWakePolicy ?? 'immediate',
      version: 1,
      createdAt: tx.now,
      updatedAt: tx.now,
    }
    requireModestAgent(agent)
    await insertAgent(tx, agent)
    const { keyId, apiKey } = await createApiKey(tx, agent.id, {
      label: 'first',
      scopes,
      expiresAt: lastEnd(caller) ?? null,
      createdBy: caller.identity,
      createdByKey: caller.keyId,
    })
    await context.append(tx, agent.projectId, [
      { type: 'agent.created', actor: caller.identity, audience: [agent.id], data: { agent: handle } },
    ])
    return { agent, keyId, apiKey }
  })
}

async function requireRoomForAgent(tx: Transaction, projectId: string): Promise<void> {
  const project = await findProject(tx, projectId)
  const max = limitFor({ limits: project?.limits ?? {} }, 'agents')
  if (max === 0 || (await countAgents(tx, projectId)) < max) return
  throw limitExceeded('agents', max, `Project ${projectId} has ${max} agents. Remove agents that are not in use.`)
}

/**
 * Changes an agent. The agent itself or the operator. The handle is an address and never changes; other addresses are the
 * operator's to give, and an agent's to give up. Errors: `agent-not-found`, `agent-exists`, `forbidden`.
 */
export function changeAgent(
  context: RegistryContext,
  caller: Caller,
  handle: string,
  input: AgentInput,
): Promise<Agent> {
  return context.db.transaction(async (tx) => {
    await lockAgent(tx, (await requireAgent(tx, caller.projectId, handle)).id)
    const before = await requireAgent(tx, caller.projectId, handle)
    requireSelf(caller, before.id, 'change this agent')
    const { handle: _fixed, aliases, ...changes } = input
    const agent: Agent = {
      ...before,
      ...changes,
      aliases: aliases === undefined ? before.aliases : parseAliases(aliases, before.handle),
      version: before.version + 1,
      updatedAt: tx.now,
    }
    if (caller.kind === 'agent') requireNoNewAddress(before, agent)
    if (sizeOf(agent) > sizeOf(before)) requireModestAgent(agent)
    await updateAgent(tx, agent, before)
    await context.append(tx, agent.projectId, [
      {
        type: 'agent.updated',
        actor: caller.identity,
        audience: [agent.id],
        data: { agent: agent.handle, version: agent.version },
      },
    ])
    return agent
  })
}

/** Whoever could take a name at will would take the mail of those that had it before, or have it next. */
function requireNoNewAddress(before: Agent, after: Agent): void {
  const own = new Set([before.handle, ...before.aliases])
  const added = after.aliases.find((alias) => !own.has(alias))
  if (added !== undefined) {
    throw new Problem('forbidden', {
      field: 'aliases',
      detail: `aliases: ${added} is an address, which the operator gives. Leave it out, or ask the operator; you may remove your own.`,
    })
  }
  const address = addressOfName(after.displayName)
  if (address === undefined || own.has(address) || address === addressOfName(before.displayName)) return
  throw new Problem('forbidden', {
    field: 'displayName',
    detail: `displayName: "${after.displayName}" would be the address ${address}, which the operator gives. Choose a name with a space in it or of more than 12 letters, which is no address, or ask the operator.`,
  })
}

/** The agent behind a handle or alias, or `agent-not-found`. */
export async function requireAgent(db: Reader, projectId: string, name: string): Promise<Agent> {
  const agent = await findAgent(db, projectId, nameOf(name))
  if (!agent) {
    throw new Problem('agent-not-found', {
      detail: `No agent ${name} in project ${projectId}. \`rouse agent list\` shows those there are.`,
    })
  }
  return agent
}

/** Who may see the agent behind a handle or alias; undefined where there is none. The agent itself is not read. */
export function findAccess(db: Reader, projectId: string, name: string): Promise<Access | undefined> {
  return accessOf(db, projectId, nameOf(name))
}

function parseAliases(aliases: readonly string[], handle: string): string[] {
  return [...new Set(aliases.map((alias) => parseHandle(alias, 'aliases')))].filter((alias) => alias !== handle)
}

/** What an agent says about itself is read, and told, with each call. Errors: `payload-too-large`. */
function requireModestAgent(agent: Agent): void {
  const { max } = inputLimits.agentBytes
  const bytes = sizeOf(agent)
  if (bytes <= max) return
  throw new Problem('payload-too-large', {
    field: 'skills',
    detail: `skills: what ${agent.handle} says about itself is ${bytes} bytes as JSON, and at most ${max}. Say less of each skill, or name fewer.`,
    extra: { limit: 'agentBytes', max },
  })
}

function sizeOf({ description, skills, inputModes, outputModes, aliases }: Agent): number {
  return Buffer.byteLength(JSON.stringify([description, skills, inputModes, outputModes, aliases]))
}

/** `@donna` of `donna`, `@donna` and `Donna`, whether there is such an agent or not. */
export function nameOf(name: string): string {
  return `@${name.replace(/^@/, '').toLowerCase()}`
}

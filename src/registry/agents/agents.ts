import { Problem } from '../../errors.ts'
import { newAgentId } from '../../lib/ids.ts'
import { sizeLimits } from '../../limits.ts'
import type { Core } from '../../log/core.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { agentScopes } from '../../words/callers.ts'
import { anyMode } from '../../words/modes.ts'
import type { Access, ContactPolicy, WakePolicy } from '../../words/policies.ts'
import { repeatedSkillId } from '../../words/skills.ts'
import { createApiKey } from '../callers/api-key-store.ts'
import { type Caller, requireOperator, requireSelf } from '../callers/caller.ts'
import { limitExceeded, limitFor } from '../callers/caller-limits.ts'
import { requireLiveKey } from '../callers/live-key.ts'
import { lastEnd } from '../callers/new-key.ts'
import { findProject } from '../projects/project-store.ts'
import { callerIn } from '../projects/projects.ts'
import { type Agent, addressOfName, parseHandle, requireDisplayName } from './agent.ts'
import type { Skill } from './agent-row.ts'
import { accessOf, countAgents, findAgent, insertAgent, lockAgent, updateAgent } from './agent-store.ts'

export interface RegistryContext extends Core {
  /**
   * Called after a commit that removes keys or agents, with their ids: their open streams and calls end on every gateway.
   */
  readonly revoked: (ids: readonly string[]) => void
}

/** The fields of registering and changing an agent. Absent fields keep their value, or get the default. */
interface AgentInput {
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

/**
 * Registers an agent and makes its first key, which only this answer shows. Operators only. Errors: `agent-exists`, `project-not-found`.
 * @param input.project the agent's project; the caller's by default
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
  requireDisplayName(input.displayName)
  requireSkillsApart(input.skills)
  return context.db.transaction(async (tx) => {
    await requireLiveKey(tx, caller)
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
    requireAgentSize(agent)
    await insertAgent(tx, agent)
    const { keyId, apiKey } = await createApiKey(tx, agent.id, {
      label: 'first',
      scopes: agentScopes,
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
 * Changes an agent. The agent itself and the operator may. The handle never changes. Other addresses are given by the operator
 * and may be given up by the agent. Errors: `agent-not-found`, `agent-exists`, `forbidden`.
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
    if (changes.displayName !== before.displayName) requireDisplayName(changes.displayName)
    requireSkillsApart(changes.skills)
    const agent: Agent = {
      ...before,
      ...changes,
      aliases: aliases === undefined ? before.aliases : parseAliases(aliases, before.handle),
      version: before.version + 1,
      updatedAt: tx.now,
    }
    if (caller.kind === 'agent') requireNoNewAddress(before, agent)
    if (sizeOf(agent) > sizeOf(before)) requireAgentSize(agent)
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

/** An agent that could take any name would get the mail of the agents that have or had that name. */
function requireNoNewAddress(before: Agent, after: Agent): void {
  const own = new Set([before.handle, ...before.aliases])
  const added = after.aliases.find((alias) => !own.has(alias))
  if (added !== undefined) {
    throw new Problem('forbidden', {
      field: 'aliases',
      detail: `aliases: ${added} is an address, and only the operator adds addresses. Leave the alias out, or ask the operator; you may remove your own aliases.`,
    })
  }
  const address = addressOfName(after.displayName)
  if (address === undefined || own.has(address) || address === addressOfName(before.displayName)) return
  throw new Problem('forbidden', {
    field: 'displayName',
    detail: `displayName: "${after.displayName}" would be the address ${address}, and only the operator adds addresses. Ask the operator.`,
  })
}

/** Returns the agent with a handle or alias. Errors: `agent-not-found`. */
export async function requireAgent(db: Reader, projectId: string, name: string): Promise<Agent> {
  const agent = await findAgent(db, projectId, nameOf(name))
  if (!agent) {
    throw new Problem('agent-not-found', {
      detail: `No agent ${name} in project ${projectId}.`,
      remedy: 'list-agents',
    })
  }
  return agent
}

/** Returns the access of the agent with a handle or alias, without reading the rest of it; undefined when there is none. */
export function findAccess(db: Reader, projectId: string, name: string): Promise<Access | undefined> {
  return accessOf(db, projectId, nameOf(name))
}

function requireSkillsApart(skills: readonly Skill[] = []): void {
  const id = repeatedSkillId(skills)
  if (id === undefined) return
  throw new Problem('invalid-request', {
    field: 'skills',
    detail: `skills: two have the id "${id}", by which callers find one. Give each an id of its own.`,
  })
}

function parseAliases(aliases: readonly string[], handle: string): string[] {
  return [...new Set(aliases.map((alias) => parseHandle(alias, 'aliases')))].filter((alias) => alias !== handle)
}

/**
 * Every call to an agent reads its description and skills, and SQLite reads the whole rows of other agents on the way to one, so their size is
 * bounded. Errors: `payload-too-large`.
 */
function requireAgentSize(agent: Agent): void {
  const { max } = sizeLimits.description
  const bytes = sizeOf(agent)
  if (bytes <= max) return
  throw new Problem('payload-too-large', {
    field: 'skills',
    detail: `skills: the description of ${agent.handle} has ${bytes} bytes as JSON, and at most ${max} are allowed. Shorten the skills, or list fewer.`,
    extra: { limit: 'description', max },
  })
}

function sizeOf({ description, skills, inputModes, outputModes, aliases }: Agent): number {
  return Buffer.byteLength(JSON.stringify([description, skills, inputModes, outputModes, aliases]))
}

/** Returns `@donna` for `donna`, `@donna` and `Donna`, whether or not such an agent exists. */
export function nameOf(name: string): string {
  return `@${name.replace(/^@/, '').toLowerCase()}`
}

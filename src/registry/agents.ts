import { Problem } from '../errors.ts'
import { newAgentId } from '../lib/ids.ts'
import type { AppendEvents } from '../log/append.ts'
import type { NewEvent } from '../log/event.ts'
import type { Database, Reader } from '../storage/database.ts'
import { type Access, type Agent, type ContactPolicy, parseHandle, type Skill, type WakePolicy } from './agent.ts'
import { deleteAgent, findAgent, findHandle, insertAgent, lockAgent, updateAgent } from './agent-store.ts'
import { createApiKey, deleteApiKeys, revokeApiKey } from './api-key-store.ts'
import { type Caller, requireOperator, requireSelf } from './caller.ts'
import { deletePermissionsOf } from './permission-store.ts'
import { callerIn } from './projects.ts'
import type { Session } from './session.ts'
import { deleteSessionsOf, newestLiveSession } from './session-store.ts'
import { deleteSubscriptionsOf } from './subscription-store.ts'

export interface RegistryContext {
  readonly db: Database
  readonly append: AppendEvents
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
    await insertAgent(tx, agent)
    const { keyId, apiKey } = await createApiKey(tx, agent.id, 'first')
    await context.append(tx, agent.projectId, [
      { type: 'agent.created', actor: caller.identity, audience: [agent.id], data: { agent: handle } },
    ])
    return { agent, keyId, apiKey }
  })
}

/** Changes an agent. The agent itself or the operator. The handle is an address and never changes. */
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

/** Takes an agent away with its keys, subscriptions and permissions. Its tasks stay readable to their originators. */
export function removeAgent(context: RegistryContext, caller: Caller, handle: string): Promise<void> {
  requireOperator(caller, 'remove agents')
  return context.db.transaction(async (tx) => {
    const agent = await requireAgent(tx, caller.projectId, handle)
    // Whoever subscribes for it meanwhile is waited for, or finds it gone.
    await lockAgent(tx, agent.id)
    const session = await newestLiveSession(tx, agent.id)
    await deleteSubscriptionsOf(tx, agent.id)
    await deleteSessionsOf(tx, agent.id)
    await deletePermissionsOf(tx, agent.id)
    await deleteApiKeys(tx, agent.id)
    await deleteAgent(tx, agent)
    await context.append(tx, agent.projectId, [
      ...(session ? [leftWithAgent(agent, session)] : []),
      { type: 'agent.deleted', actor: caller.identity, audience: [agent.id], data: { agent: agent.handle } },
    ])
  })
}

function leftWithAgent({ handle: identity }: Agent, { id, agentId, surface }: Session): NewEvent {
  const data = { identity, surface, sessionId: id, reason: 'removed' }
  return { type: 'peer.left', actor: '@gateway', audience: [agentId], data }
}

/** Makes one more key for an agent. The agent itself or the operator. */
export function addApiKey(
  context: RegistryContext,
  caller: Caller,
  handle: string,
  label: string | null,
): Promise<{ keyId: string; apiKey: string }> {
  return context.db.transaction(async (tx) => {
    const agent = await requireAgent(tx, caller.projectId, handle)
    requireSelf(caller, agent.id, 'make keys for this agent')
    const key = await createApiKey(tx, agent.id, label)
    await context.append(tx, agent.projectId, [
      {
        type: 'key.created',
        actor: caller.identity,
        audience: [agent.id],
        data: { agent: agent.handle, keyId: key.keyId },
      },
    ])
    return key
  })
}

/** Revokes a key; the next request that shows it is refused. */
export function removeApiKey(context: RegistryContext, caller: Caller, handle: string, keyId: string): Promise<void> {
  return context.db.transaction(async (tx) => {
    const agent = await requireAgent(tx, caller.projectId, handle)
    requireSelf(caller, agent.id, 'revoke keys of this agent')
    await revokeApiKey(tx, agent.id, keyId)
    await context.append(tx, agent.projectId, [
      { type: 'key.revoked', actor: caller.identity, audience: [agent.id], data: { agent: agent.handle, keyId } },
    ])
  })
}

/** The agent behind a handle or alias, or `agent-not-found`. */
export async function requireAgent(db: Reader, projectId: string, name: string): Promise<Agent> {
  const agent = await findAgent(db, projectId, parseName(name))
  if (!agent) {
    throw new Problem('agent-not-found', {
      detail: `No agent ${name} in project ${projectId}. \`rouse agent list\` shows those there are.`,
    })
  }
  return agent
}

/** The identity of an agent by its id; agents that were removed keep theirs in old rows as `@removed`. */
export async function identityOf(db: Reader, id: string): Promise<string> {
  if (id === 'operator') return '@operator'
  return (await findHandle(db, id)) ?? '@removed'
}

function parseAliases(aliases: readonly string[], handle: string): string[] {
  return [...new Set(aliases.map((alias) => parseHandle(alias, 'aliases')))].filter((alias) => alias !== handle)
}

function parseName(name: string): string {
  return `@${name.replace(/^@/, '').toLowerCase()}`
}

import { Problem } from '../errors.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { type RegistryContext, requireAgent } from '../registry/agents/agents.ts'
import {
  countApiKeys,
  createApiKey,
  findLiveKey,
  type LiveKey,
  listKeysMadeBy,
  revokeApiKey,
} from '../registry/callers/api-key-store.ts'
import { type Caller, requireSelf } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { type KeyInput, keyGrant } from '../registry/callers/new-key.ts'
import type { Scope } from '../registry/callers/scopes.ts'
import { requireRoom } from '../registry/shares/shares.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { endKeys, type KeyContext } from './end-keys.ts'

/** A new key, told once. */
export interface MadeKey {
  readonly keyId: string
  readonly apiKey: string
  readonly scopes: readonly Scope[]
  /** ms since the epoch; null: never. */
  readonly expiresAt: number | null
}

/** Makes one more key for an agent. The agent itself with `mint`, or the operator. Errors: those of `keyGrant`. */
export function addApiKey(context: RegistryContext, caller: Caller, handle: string, input: KeyInput): Promise<MadeKey> {
  return context.db.transaction(async (tx) => {
    const agent = await requireAgent(tx, caller.projectId, handle)
    requireSelf(caller, agent.id, 'make keys for this agent')
    // Two that make keys at once take turns, so that the second counts the first's.
    await lockAgent(tx, agent.id)
    await requireLiveKey(tx, caller)
    requireRoom(caller, 'keys', await countApiKeys(tx, agent.id), 'Revoke keys that are not in use.')
    const grant = keyGrant(caller, input, tx.now)
    const made = await createApiKey(tx, agent.id, {
      ...grant,
      label: input.label ?? null,
      createdBy: caller.identity,
      createdByKey: caller.keyId,
    })
    const data = { agent: agent.handle, keyId: made.keyId, scopes: [...grant.scopes], madeByKey: caller.keyId }
    await context.append(tx, agent.projectId, [
      { type: 'key.created', actor: caller.identity, audience: [agent.id], data },
    ])
    return { ...made, ...grant }
  })
}

/** What a revocation takes with it. */
export interface RevokeOptions {
  /** The keys that this one made too, and those that they made. */
  readonly minted?: boolean
  /** Leaves sessions, subscriptions and push configs as they are: they hang on the key that revokes from now on. */
  readonly keep?: boolean
}

/**
 * Revokes a key; the next request that shows it is refused, and what hung on it ends. A key may always revoke itself.
 * Errors: `key-not-found`, `forbidden`.
 */
export function removeApiKey(
  context: KeyContext,
  caller: Caller,
  handle: string,
  keyId: string,
  options: RevokeOptions = {},
): Promise<void> {
  return context.db.transaction(async (tx) => {
    const agent = await requireAgent(tx, caller.projectId, handle)
    requireSelf(caller, agent.id, 'revoke keys of this agent')
    if (caller.keyId !== keyId && !caller.scopes.includes('mint')) {
      throw new Problem('forbidden', {
        detail: 'A key without the scope mint can revoke only itself. Use a key that has the scope.',
      })
    }
    if (options.keep && caller.keyId === keyId) {
      throw new Problem('invalid-request', {
        field: 'keep',
        detail: 'keep: the resources of a key go to the key that revokes it. Revoke this key with another one.',
      })
    }
    const key = await findLiveKey(tx, agent.id, keyId)
    if (!key) throw new Problem('key-not-found', { detail: `This agent has no live key "${keyId}".` })
    const keys = [key, ...(options.minted ? await mintedBy(tx, key.keyId) : [])]
    await revokeAll(context, tx, keys, caller, options.keep)
  })
}

/** Revokes keys by the word of a caller, within its transaction. */
export async function revokeAll(
  context: KeyContext,
  tx: Transaction,
  keys: readonly LiveKey[],
  caller: Caller,
  keep = false,
): Promise<void> {
  for (const { keyId } of keys) await revokeApiKey(tx, keyId)
  const ending = { reason: 'key-revoked', actor: caller.identity } as const
  await endKeys(context, tx, keys, keep ? { ...ending, heir: caller.keyId } : ending)
}

/** The live keys that a key made, those that they made, and so on; through revoked ones too. */
export async function mintedBy(db: Reader, keyId: string): Promise<LiveKey[]> {
  const seen = new Set([keyId])
  const found: LiveKey[] = []
  for (const makerId of seen) {
    for (const key of await listKeysMadeBy(db, makerId)) {
      if (seen.has(key.keyId)) continue
      seen.add(key.keyId)
      if (key.revokedAt === null) found.push({ keyId: key.keyId, agentId: key.agentId })
    }
  }
  return found
}

import { Problem } from '../errors.ts'
import { lockAgent } from '../registry/agents/agent-store.ts'
import { type RegistryContext, requireAgent } from '../registry/agents/agents.ts'
import {
  countApiKeys,
  createApiKey,
  findKey,
  type LiveKey,
  listKeysMadeBy,
  revokeApiKey,
} from '../registry/callers/api-key-store.ts'
import { type Caller, requireSelf } from '../registry/callers/caller.ts'
import { requireRoom } from '../registry/callers/caller-limits.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { type KeyInput, keyGrant } from '../registry/callers/new-key.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import type { Scope } from '../words/callers.ts'
import type { IdentityContext } from './context.ts'
import { endKeys } from './end-keys.ts'

/** A new key. It is shown only once. */
interface MadeKey {
  readonly keyId: string
  readonly apiKey: string
  readonly scopes: readonly Scope[]
  /** ms since the epoch; null: never. */
  readonly expiresAt: number | null
}

/** Makes another key for an agent. The agent itself may do that with the scope `mint`, and the operator. Errors: those of `keyGrant`. */
export function addApiKey(context: RegistryContext, caller: Caller, handle: string, input: KeyInput): Promise<MadeKey> {
  return context.db.transaction(async (tx) => {
    const agent = await requireAgent(tx, caller.projectId, handle)
    requireSelf(caller, agent.id, 'make keys for this agent')
    // Of two concurrent calls, the second waits, so that it counts the key of the first.
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

/** The further effects of a revocation. */
export interface RevokeOptions {
  /** Also revokes the keys that this key made, and those that they made; also if this key was revoked before. */
  readonly minted?: boolean
  /** Keeps the sessions, subscriptions and push configs: they then belong to the key that revokes. */
  readonly keep?: boolean
}

/**
 * Revokes a key: the next request with it is refused, and its resources end. A key may always revoke itself.
 * Errors: `key-not-found`, `forbidden`.
 */
export function removeApiKey(
  context: IdentityContext,
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
    const key = await findKey(tx, agent.id, keyId)
    const isLive = key?.revokedAt === null
    // Keys that a key made can be revoked after the key itself.
    const keys = [...(isLive ? [key] : []), ...(key && options.minted ? await mintedBy(tx, keyId) : [])]
    if (keys.length === 0) throw new Problem('key-not-found', { detail: `This agent has no live key "${keyId}".` })
    await revokeAll(context, tx, keys, caller, options.keep)
  })
}

/** Revokes keys for a caller, in its transaction. */
export async function revokeAll(
  context: IdentityContext,
  tx: Transaction,
  keys: readonly LiveKey[],
  caller: Caller,
  keep = false,
): Promise<void> {
  for (const { keyId } of keys) await revokeApiKey(tx, keyId)
  const ending = { reason: 'key-revoked', actor: caller.identity } as const
  await endKeys(context, tx, keys, keep ? { ...ending, heir: caller.keyId } : ending)
}

/** Returns the live keys that a key made, those that they made, and so on, also those that a revoked key made. */
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

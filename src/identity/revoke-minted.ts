import type { Caller } from '../registry/callers/caller.ts'
import { listOperatorKeysMadeBy, revokeOperatorKey } from '../registry/callers/operator-key-store.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { mintedBy, revokeAll } from './api-keys.ts'
import type { IdentityContext } from './context.ts'
import { type EndedKey, endKeys } from './end-keys.ts'

/**
 * Revokes the keys that a key or a token made, of operators and of agents, those that they made, and so on, and ends their resources. In
 * the transaction of the caller. Returns how many were not revoked before.
 */
export async function revokeMintedBy(
  context: IdentityContext,
  tx: Transaction,
  makerId: string,
  caller: Caller,
): Promise<number> {
  const operators = await operatorsMintedBy(tx, makerId)
  const ended: EndedKey[] = []
  for (const keyId of operators) if (await revokeOperatorKey(tx, keyId)) ended.push({ keyId })
  if (ended.length > 0) await endKeys(context, tx, ended, { reason: 'key-revoked', actor: caller.identity })
  const keys = []
  for (const id of [makerId, ...operators]) keys.push(...(await mintedBy(tx, id)))
  if (keys.length > 0) await revokeAll(context, tx, keys, caller)
  return ended.length + keys.length
}

async function operatorsMintedBy(db: Reader, makerId: string): Promise<string[]> {
  const seen = new Set([makerId])
  for (const maker of seen) for (const made of await listOperatorKeysMadeBy(db, maker)) seen.add(made.id)
  seen.delete(makerId)
  return [...seen]
}

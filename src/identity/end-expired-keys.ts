import type { Sweep } from '../lib/sweeper.ts'
import { gatewayIdentity, identitiesOf, operatorId } from '../registry/agents/identity.ts'
import { listExpiredKeys, revokeApiKey } from '../registry/callers/api-key-store.ts'
import { listRevokedKeysInUse } from '../registry/callers/live-key.ts'
import { listExpiredOperatorKeys, revokeOperatorKey } from '../registry/callers/operator-key-store.ts'
import { removeExpiredTokens } from '../registry/callers/revoked-token-store.ts'
import type { Transaction } from '../storage/database.ts'
import type { IdentityContext } from './context.ts'
import { type EndedKey, endKeys } from './end-keys.ts'

/** A key is refused from the instant of its end; what depends on it ends at most this much later. */
const sweepMs = 15_000
const batchMax = 100
/** Rows that were written at the same time as a revocation are visible after this long. */
const lateMs = 60_000
const revokedMax = 5_000

/** Ends what depends on keys whose end has come, as a revocation does. */
export function keySweep(context: IdentityContext): Sweep {
  return {
    name: 'keys',
    everyMs: sweepMs,
    async run(signal) {
      const ended = await endExpiredKeys(context, signal)
      const identity = await identitiesOf(
        context.db,
        ended.flatMap(({ agentId }) => agentId ?? []),
      )
      for (const { keyId, agentId } of ended) {
        context.log.info({ agent: identity(agentId ?? operatorId), keyId }, 'key.expired')
      }
      return ended.length >= batchMax
    },
  }
}

/** Ends a batch of expired keys. Safe on several gateways at once. Returns the keys that it ended. */
async function endExpiredKeys(context: IdentityContext, signal: AbortSignal): Promise<EndedKey[]> {
  const { db, clock } = context
  const now = clock.now()
  const ended: EndedKey[] = []
  for (const key of await listExpiredKeys(db, now, batchMax)) {
    if (await end(context, key, (tx) => revokeApiKey(tx, key.keyId))) ended.push(key)
  }
  for (const keyId of await listExpiredOperatorKeys(db, now, batchMax)) {
    if (await end(context, { keyId }, (tx) => revokeOperatorKey(tx, keyId))) ended.push({ keyId })
  }
  for (const keyId of await listRevokedKeysInUse(db, now - lateMs, revokedMax))
    await endLateComers(context, { keyId }, signal)
  await removeExpiredTokens(db, now, batchMax)
  return ended
}

/** Ends one key in its own transaction, so that no key waits for another. False: it had ended already. */
function end(context: IdentityContext, key: EndedKey, revoke: (tx: Transaction) => Promise<boolean>): Promise<boolean> {
  return context.db.transaction(async (tx) => {
    if (!(await revoke(tx))) return false
    await endKeys(context, tx, [key], { reason: 'key-expired', actor: gatewayIdentity })
    return true
  })
}

/** Ends what was written too late to be seen, and the rest of many push configs, a batch in each transaction. */
async function endLateComers(context: IdentityContext, key: EndedKey, signal: AbortSignal): Promise<void> {
  const ending = { reason: 'key-revoked', actor: gatewayIdentity, isAgain: true } as const
  for (let more = true; more && !signal.aborted; ) {
    more = await context.db.transaction((tx) => endKeys(context, tx, [key], ending))
    if (more) await new Promise(setImmediate)
  }
}

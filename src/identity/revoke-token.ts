import { Problem } from '../errors.ts'
import { type Caller, requireSelf } from '../registry/callers/caller.ts'
import { revokeToken } from '../registry/callers/revoked-token-store.ts'
import { endKeys, type KeyContext } from './end-keys.ts'
import { callerOfToken, type TokenVerifier } from './token-caller.ts'

/**
 * Refuses an issuer's token until it expires, and ends its resources. The caller of the token and an operator of its project may
 * do this. A token that is not valid is refused anyway. Errors: `invalid-request`, `forbidden`.
 */
export async function refuseToken(
  context: KeyContext & { readonly tokens?: TokenVerifier | undefined },
  caller: Caller,
  token: string,
): Promise<void> {
  const { db, tokens } = context
  const held = tokens && (await callerOfToken(db, tokens, token))
  if (!held?.expiresAt) {
    throw new Problem('invalid-request', {
      field: 'token',
      detail: 'token: is not a token that this gateway accepts. There is nothing to revoke.',
    })
  }
  requireHeld(caller, held)
  const { keyId, expiresAt } = held
  await db.transaction(async (tx) => {
    await revokeToken(tx, keyId, expiresAt)
    const key = held.kind === 'agent' ? { keyId, agentId: held.id } : { keyId }
    await endKeys(context, tx, [key], { reason: 'key-revoked', actor: caller.identity })
  })
}

function requireHeld(caller: Caller, held: Caller): void {
  if (caller.keyId === held.keyId) return
  if (!caller.scopes.includes('manage')) {
    throw new Problem('forbidden', {
      detail: 'A key without the scope manage can revoke only itself. Use a key that has the scope.',
    })
  }
  if (caller.role === 'admin') return
  if (held.kind === 'agent' && caller.projectId === held.projectId) {
    requireSelf(caller, held.id, 'revoke this token')
    return
  }
  throw new Problem('forbidden', {
    detail: 'Only the owner of the token, or an operator of its project, may revoke it.',
  })
}

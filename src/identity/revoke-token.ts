import { Problem } from '../errors.ts'
import { type Caller, requireSelf } from '../registry/callers/caller.ts'
import { revokeToken } from '../registry/callers/revoked-token-store.ts'
import type { RevokeOptions } from './api-keys.ts'
import { endKeys, type KeyContext } from './end-keys.ts'
import { revokeMintedBy } from './revoke-minted.ts'
import { holderOfToken, type TokenVerifier } from './token-caller.ts'

/**
 * Refuses an issuer's token until it expires, and ends its resources. With `minted` it also revokes every key that the token made, that
 * those made, and so on, also if the token was revoked before. The caller of the token and an operator of its project may do this. A
 * token that is not valid is refused anyway. Errors: `invalid-request`, `forbidden`.
 */
export async function refuseToken(
  context: KeyContext & { readonly tokens?: TokenVerifier | undefined },
  caller: Caller,
  token: string,
  { minted = false }: Pick<RevokeOptions, 'minted'> = {},
): Promise<void> {
  const { db, tokens } = context
  const bearer = tokens && (await holderOfToken(db, tokens, token))?.caller
  if (!bearer?.expiresAt) {
    throw new Problem('invalid-request', {
      field: 'token',
      detail: 'token: is not a token that this gateway accepts. There is nothing to revoke.',
    })
  }
  requireOwn(caller, bearer)
  if (minted) requireMint(caller, bearer)
  const { keyId, expiresAt } = bearer
  await db.transaction(async (tx) => {
    const isAgain = !(await revokeToken(tx, keyId, expiresAt))
    const key = bearer.kind === 'agent' ? { keyId, agentId: bearer.id } : { keyId }
    await endKeys(context, tx, [key], { reason: 'key-revoked', actor: caller.identity, isAgain })
    if (minted) await revokeMintedBy(context, tx, keyId, caller)
  })
}

/** Errors: `forbidden`. */
function requireMint(caller: Caller, bearer: Caller): void {
  if (caller.keyId === bearer.keyId || caller.scopes.includes('mint')) return
  throw new Problem('forbidden', {
    field: 'minted',
    detail:
      'minted: only a key with the scope mint can revoke the keys that another token made. Leave it out, or use such a key.',
  })
}

function requireOwn(caller: Caller, bearer: Caller): void {
  if (caller.keyId === bearer.keyId) return
  if (!caller.scopes.includes('manage')) {
    throw new Problem('forbidden', {
      detail: 'A key without the scope manage can revoke only itself. Use a key that has the scope.',
    })
  }
  if (caller.role === 'admin') return
  if (bearer.kind === 'agent' && caller.projectId === bearer.projectId) {
    requireSelf(caller, bearer.id, 'revoke this token')
    return
  }
  throw new Problem('forbidden', {
    detail: 'Only the owner of the token, or an operator of its project, may revoke it.',
  })
}

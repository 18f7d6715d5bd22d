import { Problem } from '../errors.ts'
import { type Caller, requireAdmin, requireSelf } from '../registry/callers/caller.ts'
import { revokeToken } from '../registry/callers/revoked-token-store.ts'
import type { RevokeOptions } from './api-keys.ts'
import type { AuthContext } from './authenticate.ts'
import type { IdentityContext } from './context.ts'
import { type EndedKey, endKeys } from './end-keys.ts'
import { revokeMintedBy } from './revoke-minted.ts'
import { callerOfFormerToken } from './token-caller.ts'

/** One of the two. */
interface NamedToken {
  readonly token?: string | undefined
  /** `jwt:…` */
  readonly keyId?: string | undefined
}

/** The key that is refused. */
interface RefusedKey extends EndedKey {
  /** When the named token expires, ms since the epoch; absent: not known. */
  readonly expiresAt?: number | undefined
}

/**
 * Refuses an issuer's token, and ends its resources. With `minted` it also revokes every key that the token made, that those made, and so
 * on. What a token left behind can be ended after it expired or was revoked. The caller of the token and an operator of its project may do
 * this with the token, an admin also with its key id. Errors: `invalid-request`, `forbidden`.
 */
export async function refuseToken(
  context: IdentityContext & Pick<AuthContext, 'tokens'>,
  caller: Caller,
  { token = '', keyId }: NamedToken,
  { minted = false }: Pick<RevokeOptions, 'minted'> = {},
): Promise<void> {
  const key = keyId === undefined ? await keyOfToken(context, caller, token) : keyWithId(caller, keyId)
  if (minted) requireMint(caller, key)
  await context.db.transaction(async (tx) => {
    const isAgain = !(await revokeToken(tx, key.keyId, key.expiresAt))
    await endKeys(context, tx, [key], { reason: 'key-revoked', actor: caller.identity, isAgain })
    if (minted) await revokeMintedBy(context, tx, key.keyId, caller)
  })
}

async function keyOfToken(
  { db, tokens }: IdentityContext & Pick<AuthContext, 'tokens'>,
  caller: Caller,
  token: string,
): Promise<RefusedKey> {
  const bearer = tokens && (await callerOfFormerToken(db, tokens, token))
  if (!bearer) {
    throw new Problem('invalid-request', {
      field: 'token',
      detail:
        'token: is not a token that this gateway accepts or has accepted. An admin can revoke what it made by its keyId.',
    })
  }
  requireOwn(caller, bearer)
  return keyOf(bearer)
}

/** The id alone does not say whose token it is. So it takes an operator of all projects. Errors: `forbidden`. */
function keyWithId(caller: Caller, keyId: string): RefusedKey {
  if (caller.keyId === keyId) return keyOf(caller)
  requireAdmin(caller, 'revoke a token by its keyId')
  return { keyId }
}

function keyOf({ kind, id, keyId, expiresAt }: Caller): RefusedKey {
  return kind === 'agent' ? { keyId, expiresAt, agentId: id } : { keyId, expiresAt }
}

/** Errors: `forbidden`. */
function requireMint(caller: Caller, { keyId }: RefusedKey): void {
  if (caller.keyId === keyId || caller.scopes.includes('mint')) return
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

import { randomBytes } from 'node:crypto'
import { Problem } from '../errors.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { requireLiveKey } from '../registry/callers/live-key.ts'
import { insertSignInCode, isSignInCode, takeSignInCode } from '../registry/callers/sign-in-code-store.ts'
import { boxOf, hashSecret } from '../security/secret.ts'
import { type AuthContext, authenticate } from './authenticate.ts'

/** How long a code can be used, in ms. */
const lifeMs = 60_000
const prefix = 'rs_'

/**
 * Makes a code that signs a person in on the page once, within a minute, with the key of the caller. The store gets the hash of the
 * code, and the key encrypted with the code: neither is of use without the link. Errors: `unauthenticated`.
 */
export async function makeSignInCode(
  { db }: Pick<AuthContext, 'db'>,
  caller: Caller,
  key: string,
): Promise<{ code: string; expiresAt: number }> {
  const code = prefix + randomBytes(32).toString('base64url')
  const id = hashSecret(code)
  return db.transaction(async (tx) => {
    await requireLiveKey(tx, caller)
    const expiresAt = tx.now + lifeMs
    await insertSignInCode(tx, { id, sealedKey: boxOf(code).seal(key, id), expiresAt })
    return { code, expiresAt }
  })
}

/**
 * Uses a code. Returns the key that it stands for, and whose it is. Errors: `unauthenticated`, the same for a code that is wrong, used or
 * expired, and for one whose key has ended.
 */
export async function useSignInCode(
  context: AuthContext,
  code: string | undefined,
): Promise<{ key: string; caller: Caller }> {
  const key = code?.startsWith(prefix) ? await keyOf(context, code) : undefined
  const caller = key === undefined ? undefined : await authenticate(context, key).catch(refuseEnded)
  if (key === undefined || caller === undefined) {
    throw new Problem('unauthenticated', {
      detail: 'The sign-in link is wrong, was used already or has expired.',
      remedy: 'sign-in-again',
    })
  }
  return { key, caller }
}

async function keyOf({ db, clock }: AuthContext, code: string): Promise<string | undefined> {
  const id = hashSecret(code)
  if (!(await isSignInCode(db, id))) return undefined
  const taken = await db.transaction((tx) => takeSignInCode(tx, id))
  return taken && taken.expiresAt > clock.now() ? boxOf(code).open(taken.sealedKey, id) : undefined
}

function refuseEnded(error: unknown): undefined {
  if (error instanceof Problem && error.code === 'unauthenticated') return undefined
  throw error
}

import { Problem } from '../errors.ts'
import type { Clock } from '../lib/clock.ts'
import { findKeyHolder } from '../registry/callers/api-key-store.ts'
import { type Caller, operator } from '../registry/callers/caller.ts'
import { findOperatorKey, operatorKeyPrefix } from '../registry/callers/operator-key-store.ts'
import { readOverrides } from '../registry/projects/project-limits.ts'
import { defaultProject } from '../registry/projects/project-store.ts'
import type { AdminKey } from '../security/admin-key.ts'
import { looksLikeJwt } from '../security/jwt-claims.ts'
import { hashSecret } from '../security/secret.ts'
import type { Database, Reader } from '../storage/database.ts'
import { parseScopes, scopesOf } from '../words/callers.ts'
import { type OpenCalls, revoked } from './open-calls.ts'
import { callerOfToken, type TokenVerifier } from './token-caller.ts'

/** Authentication works with this. */
export interface AuthContext {
  readonly db: Database
  readonly clock: Clock
  readonly adminKey: AdminKey
  /** Verifies tokens of the configured issuers; absent: there are none. */
  readonly tokens?: TokenVerifier | undefined
  readonly openCalls: OpenCalls
}

/**
 * Returns the caller that a bearer key or token identifies, with one query for a key. Throws `unauthenticated`, the same for an
 * unknown, an expired, a revoked and a malformed key.
 */
export async function authenticate(context: AuthContext, bearer: string | undefined): Promise<Caller> {
  const caller = bearer === undefined || bearer === '' ? undefined : await findCaller(context, bearer)
  if (caller && !hasExpired(caller, context.clock)) return caller
  throw new Problem('unauthenticated', {
    ...(bearer
      ? { detail: 'The API key is unknown, expired or revoked.', remedy: 'replace-key' }
      : { remedy: 'send-key' }),
  })
}

/**
 * Refuses a request whose key or token has ended since it was checked: a body may take minutes to arrive. Call it when the body is there.
 * Errors: `unauthenticated`.
 */
export function requireStillValid(
  { adminKey, clock, openCalls }: AuthContext,
  caller: Caller,
  bearer: string | undefined,
): void {
  openCalls.requireNotEnded(caller)
  if (hasExpired(caller, clock)) {
    throw new Problem('unauthenticated', {
      detail: 'The key or token expired while the request was in progress. Send it again with a new one.',
    })
  }
  // All admin keys have one id.
  if (caller.keyId === operator.keyId && !adminKey.matches(bearer ?? '')) throw revoked()
}

function hasExpired({ expiresAt = Number.POSITIVE_INFINITY }: Caller, clock: Clock): boolean {
  return expiresAt <= clock.now()
}

async function findCaller(context: AuthContext, bearer: string): Promise<Caller | undefined> {
  const { db, adminKey, tokens } = context
  if (adminKey.matches(bearer)) return operator
  if (bearer.startsWith(operatorKeyPrefix)) return callerOfOperatorKey(db, bearer)
  if (tokens && looksLikeJwt(bearer)) return callerOfToken(db, tokens, bearer)
  return (await callerOfKey(db, bearer)) ?? ((await adminKey.matchesAnew(bearer)) ? operator : undefined)
}

async function callerOfKey(db: Reader, key: string): Promise<Caller | undefined> {
  const holder = await findKeyHolder(db, hashSecret(key))
  if (!holder) return undefined
  const { agentId, handle, projectId, keyId, scopes, expiresAt, limits, defaultWakePolicy } = holder
  return {
    kind: 'agent',
    id: agentId,
    identity: handle,
    projectId,
    keyId,
    scopes: parseScopes(scopes),
    limits: readOverrides(limits),
    defaultWakePolicy,
    ...(expiresAt === null ? {} : { expiresAt }),
  }
}

/** An operator of some projects acts in the first of them, unless it names another. */
async function callerOfOperatorKey(db: Reader, key: string): Promise<Caller | undefined> {
  const holder = await findOperatorKey(db, hashSecret(key))
  if (!holder) return undefined
  const { id: keyId, label, role, projects, approves, expiresAt } = holder
  return {
    ...operator,
    keyId,
    role,
    scopes: scopesOf(role, approves),
    projectId: projects?.[0] ?? defaultProject,
    ...(label === null ? {} : { name: label }),
    ...(projects === null ? {} : { projects }),
    ...(expiresAt === null ? {} : { expiresAt }),
  }
}

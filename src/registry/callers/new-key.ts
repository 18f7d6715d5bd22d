import { Problem } from '../../errors.ts'
import { type AgentScope, agentScopes } from '../../words/callers.ts'
import type { Caller } from './caller.ts'

/** The life of a key that has an end, and of a token, in seconds: ten years. */
export const keyLifeMax = 10 * 366 * 86_400

/** The wanted properties of a new key. `keyGrant` has the defaults. */
export interface KeyInput {
  readonly label?: string | null | undefined
  readonly scopes?: readonly AgentScope[] | undefined
  /** ms since the epoch */
  readonly expiresAt?: number | undefined
}

/**
 * Returns the scopes and the expiry of a new key: not more and not later than its maker's. Defaults: all scopes for an operator;
 * for an agent those of the making key except `mint`, which must be named. Pure.
 * Errors: `forbidden` naming the field, `invalid-request` for an expiry in the past.
 */
export function keyGrant(
  maker: Caller,
  input: KeyInput,
  now: number,
): { scopes: readonly AgentScope[]; expiresAt: number | null } {
  if (!maker.scopes.includes('mint')) {
    throw new Problem('forbidden', {
      detail:
        'Making keys needs the scope mint, which this key does not have. Use a key that has it, or ask the operator for a key.',
    })
  }
  return { scopes: grantedScopes(maker, input.scopes), expiresAt: grantedEnd(maker, input.expiresAt, now) }
}

function grantedScopes(maker: Caller, requested: readonly AgentScope[] | undefined): readonly AgentScope[] {
  if (requested === undefined) {
    return agentScopes.filter(
      (scope) => maker.kind === 'operator' || (scope !== 'mint' && maker.scopes.includes(scope)),
    )
  }
  const missing = requested.find((scope) => !maker.scopes.includes(scope))
  if (missing === undefined) return agentScopes.filter((scope) => requested.includes(scope))
  throw new Problem('forbidden', {
    field: 'scopes',
    detail: `scopes: this key does not have the scope ${missing} and cannot give it to another key. It has ${maker.scopes.join(', ')}.`,
  })
}

/**
 * Returns the latest expiry of keys that a caller makes, ms since the epoch; undefined: no bound. Operator tokens expire soon and
 * are renewed, so the keys that they make may outlive them.
 */
export function lastEnd({ kind, keyId, expiresAt }: Caller): number | undefined {
  return kind === 'operator' && keyId.startsWith('jwt:') ? undefined : expiresAt
}

function grantedEnd(maker: Caller, requested: number | undefined, now: number): number | null {
  const last = lastEnd(maker)
  const end = requested ?? last
  if (end === undefined) return null
  if (end <= now) {
    throw new Problem('invalid-request', {
      field: 'expiresAt',
      detail: 'expiresAt: is in the past. Send a later instant.',
    })
  }
  if (end > now + keyLifeMax * 1000) {
    throw new Problem('invalid-request', {
      field: 'expiresAt',
      detail: `expiresAt: a key can expire at most ${keyLifeMax} seconds from now.`,
      remedy: 'expire-earlier',
    })
  }
  if (last === undefined || end <= last) return end
  throw new Problem('forbidden', {
    field: 'expiresAt',
    detail: `expiresAt: this key expires at ${new Date(last).toISOString()} and cannot make keys that expire later.`,
  })
}

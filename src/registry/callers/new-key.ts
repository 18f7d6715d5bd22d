import { Problem } from '../../errors.ts'
import { keyLimits } from '../../limits.ts'
import type { Caller } from './caller.ts'
import { type Scope, scopes } from './scopes.ts'

/** What is asked of a new key. Absent: as its maker's rule says. */
export interface KeyInput {
  readonly label?: string | null | undefined
  readonly scopes?: readonly Scope[] | undefined
  /** ms since the epoch */
  readonly expiresAt?: number | undefined
}

/**
 * What a new key may do, and until when: no more than its maker, and no longer. An operator's has all scopes unless it says
 * otherwise; an agent's has those of the key that makes it, without `mint`, which has to be asked for. Pure.
 * Errors: `forbidden` naming the field, `invalid-request` for an end that has passed.
 */
export function keyGrant(
  maker: Caller,
  input: KeyInput,
  now: number,
): { scopes: readonly Scope[]; expiresAt: number | null } {
  if (!maker.scopes.includes('mint')) {
    throw new Problem('forbidden', {
      detail: 'This key has no scope mint, which makes keys. Use a key that has it, or ask the operator for a key.',
    })
  }
  return { scopes: grantedScopes(maker, input.scopes), expiresAt: grantedEnd(maker, input.expiresAt, now) }
}

function grantedScopes(maker: Caller, asked: readonly Scope[] | undefined): readonly Scope[] {
  if (asked === undefined) {
    return maker.kind === 'operator' ? scopes : maker.scopes.filter((scope) => scope !== 'mint')
  }
  const missing = asked.find((scope) => !maker.scopes.includes(scope))
  if (missing === undefined) return scopes.filter((scope) => asked.includes(scope))
  throw new Problem('forbidden', {
    field: 'scopes',
    detail: `scopes: this key has no scope ${missing}, so that it makes no key with it. It has ${maker.scopes.join(', ')}.`,
  })
}

/**
 * The end that no key of this maker's outlives, ms since the epoch; undefined: none. A token of an operator ends soon and is
 * renewed: what it makes need not end with it.
 */
export function lastEnd({ kind, keyId, expiresAt }: Caller): number | undefined {
  return kind === 'operator' && keyId.startsWith('jwt:') ? undefined : expiresAt
}

function grantedEnd(maker: Caller, asked: number | undefined, now: number): number | null {
  const last = lastEnd(maker)
  const end = asked ?? last
  if (end === undefined) return null
  if (end <= now) {
    throw new Problem('invalid-request', {
      field: 'expiresAt',
      detail: 'expiresAt: is in the past. Give a later instant.',
    })
  }
  if (end > now + keyLimits.keyLife.max * 1000) {
    throw new Problem('invalid-request', {
      field: 'expiresAt',
      detail: `expiresAt: a key lives at most ${keyLimits.keyLife.max} seconds. Give an earlier instant, or none for a key without an end.`,
    })
  }
  if (last === undefined || end <= last) return end
  throw new Problem('forbidden', {
    field: 'expiresAt',
    detail: `expiresAt: this key expires at ${new Date(last).toISOString()}, and makes no key that outlives it.`,
  })
}

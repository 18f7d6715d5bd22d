import { Problem } from '../../errors.ts'
import { type LimitName, projectFactor, projectLimits } from '../../limits.ts'
import type { Caller } from './caller.ts'

/** A limit as it is for a caller: its project's, or the default. 0 is no limit. */
export function limitFor({ limits }: Pick<Caller, 'limits'>, name: LimitName): number {
  return limits?.[name] ?? projectLimits[name].max
}

/** The same for all agents of the caller's project together. */
export function projectLimitFor(caller: Pick<Caller, 'limits'>, name: LimitName): number {
  return projectFactor * limitFor(caller, name)
}

/** Throws `limit-exceeded` where an agent that has `taken` of something may not have one more. The operator may. */
export function requireRoom(caller: Caller, name: LimitName, taken: number, remedy: string): void {
  const max = limitFor(caller, name)
  if (caller.kind === 'operator' || max === 0 || taken < max) return
  throw limitExceeded(name, max, `${caller.identity} has ${taken} of ${max} (${projectLimits[name].what}). ${remedy}`)
}

/** `limit-exceeded` of a limit that the operator may set. */
export function limitExceeded(
  name: LimitName,
  max: number,
  detail: string,
  remedy: 'raise-limit' | 'release-claims' | 'close-streams' | 'wait-less' = 'raise-limit',
): Problem {
  return new Problem('limit-exceeded', { detail, remedy, extra: { limit: name, max } })
}

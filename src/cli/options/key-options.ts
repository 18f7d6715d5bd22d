import { InvalidArgumentError } from 'commander'
import { type AgentScope, agentScopes, type OperatorRole, operatorRoleNames } from '../../words/callers.ts'
import { retryForMax } from '../../words/targets.ts'

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 } as const

/** `90d`, `12h`, `30m` or `45s` as seconds. */
export function duration(value: string): number {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(value) ?? []
  if (count && Number(count) > 0) return Number(count) * unitSeconds[unit as keyof typeof unitSeconds]
  throw new InvalidArgumentError('Give a number and s, m, h or d, for example 90d.')
}

/** How long is tried again: such a time up to three days, `0s`, or a plain number of seconds. */
export function retryTime(value: string): number {
  const seconds = /^\d{1,9}$/.test(value) ? Number(value) : /^0[smhd]$/.test(value) ? 0 : duration(value)
  if (seconds <= retryForMax) return seconds
  throw new InvalidArgumentError('Give three days at most: 3d.')
}

/** `read,send`; repeatable. */
export function collectScopes(value: string, earlier: AgentScope[] | undefined): AgentScope[] {
  const words = value.split(',').map((word) => word.trim())
  const unknown = words.find((word) => !(agentScopes as readonly string[]).includes(word))
  if (unknown !== undefined) throw new InvalidArgumentError(`Give some of ${agentScopes.join(', ')}.`)
  return [...(earlier ?? []), ...(words as AgentScope[])]
}

export function operatorRole(value: string): OperatorRole {
  const role = operatorRoleNames.find((one) => one === value)
  if (role) return role
  throw new InvalidArgumentError(`Give one of ${operatorRoleNames.join(', ')}.`)
}

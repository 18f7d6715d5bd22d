import type { Caller } from '../../registry/callers/caller.ts'

/** Limits of messages. 0 switches one off. */
export interface MailLimits {
  /** Messages that one agent may send in a minute. It may send them all at the same time. */
  readonly perMinute: number
  /** How often two agents may answer each other in ten minutes. */
  readonly stormTurns: number
  /** Messages that all agents together may send to one agent in ten minutes. Broadcasts do not count. */
  readonly stormMessages: number
}

export const stormWindowMs = 10 * 60_000
export const minuteMs = 60_000

/** Returns how many messages a caller may send in a minute: the limit of its project, or else the gateway's. */
export function perMinuteFor({ limits }: Pick<Caller, 'limits'>, { perMinute }: MailLimits): number {
  return limits?.messagesPerMinute ?? perMinute
}

/** Returns the share of a minute that one message uses, in ms; 0 without a limit. */
export function costMsOf(perMinute: number): number {
  return perMinute === 0 ? 0 : Math.max(1, Math.floor(minuteMs / perMinute))
}

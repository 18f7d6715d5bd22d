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

/** Recipients for which mail counts as one message: a message to more counts as several. */
const recipientsOfOne = 50

/**
 * Returns the share of a minute that one message uses, in ms; 0 without a limit. Never more than a minute: a message to any number of
 * recipients can be sent after a minute of silence.
 */
export function costMsOf(perMinute: number, recipients = 1): number {
  if (perMinute === 0) return 0
  const count = Math.min(perMinute, Math.max(1, Math.ceil(recipients / recipientsOfOne)))
  return Math.max(1, Math.floor((minuteMs / perMinute) * count))
}

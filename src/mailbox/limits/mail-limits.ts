import type { Caller } from '../../registry/callers/caller.ts'
import { agentRates, projectRates } from '../../share-limits.ts'

/** Limits of messages. 0 switches one off. */
export interface MailLimits {
  /** Messages that one agent may send in a minute. It may send them all at the same time. */
  readonly perMinute: number
  /**
   * How often two agents may answer each other in ten minutes, and how often all agents together may answer a project's broadcasts with
   * broadcasts. As many answers again are accepted from agents that have sent few of them.
   */
  readonly stormTurns: number
  /**
   * Messages that agents may send to one agent in ten minutes, whoever sends them. After that it accepts as many again, but only
   * from agents that have sent few. Broadcasts do not count.
   */
  readonly stormMessages: number
}

export const stormWindowMs = 10 * 60_000
export const minuteMs = 60_000

/** Returns how many messages a caller may send in a minute: the limit of its project, or else the gateway's. */
export function perMinuteFor({ limits }: Pick<Caller, 'limits'>, { perMinute }: MailLimits): number {
  return limits?.messagesPerMinute ?? perMinute
}

const { projectMessagesPerMinute } = projectRates
/** How many times as much as one agent all agents of a project may send. */
const timesOfProject = projectMessagesPerMinute.max / agentRates.messagesPerMinute.max

/**
 * Returns how many messages all agents of a project may send in a minute where nothing is set for it, from what the gateway lets one agent
 * send: a higher number also raises the project's, a lower one does not reduce it. 0 is no limit.
 */
export function defaultOfProject({ perMinute }: Pick<MailLimits, 'perMinute'>): number {
  return perMinute === 0 ? 0 : Math.max(projectMessagesPerMinute.max, timesOfProject * perMinute)
}

/** Returns how many messages all agents of a caller's project may send in a minute. 0 is no limit. */
export function perMinuteForProject(
  { limits }: Pick<Caller, 'limits'>,
  ofGateway: Pick<MailLimits, 'perMinute'>,
): number {
  return limits?.projectMessagesPerMinute ?? defaultOfProject(ofGateway)
}

/** The limits of a caller's mail. undefined: an operator, whose mail has none. */
export function limitsOf(caller: Pick<Caller, 'kind' | 'limits'>, limits: MailLimits): MailLimits | undefined {
  return caller.kind === 'operator' ? undefined : { ...limits, perMinute: perMinuteFor(caller, limits) }
}

/** How many are accepted in a window from all senders together: half of them are the reserve. */
export function totalMax(limit: number): number {
  return 2 * limit
}

/** A sender that has sent this part of what is still accepted waits for the next window. */
const shareOfRest = 8

/**
 * Returns below which total one more is accepted from a sender that has sent `sent` of them. Below the limit everybody may send. Beyond,
 * a sender stops at an eighth of what is left: many that send at once become slower together, and none of them uses up what is left for
 * the others.
 */
export function totalMaxFor(sent: number, limit: number): number {
  return Math.max(limit, totalMax(limit) - shareOfRest * sent)
}

/** Recipients for which mail counts as one message: a message to more counts as several. */
const recipientsOfOne = 50

/** Returns as how many messages a message to so many recipients counts. */
export function messagesOf(recipients: number): number {
  return Math.max(1, Math.ceil(recipients / recipientsOfOne))
}

/**
 * Returns the share of a minute that one message uses, in ms; 0 without a limit. Never more than a minute: a message to any number of
 * recipients can be sent after a minute of silence.
 */
export function costMsOf(perMinute: number, recipients = 1): number {
  if (perMinute === 0) return 0
  const count = Math.min(perMinute, messagesOf(recipients))
  return Math.max(1, Math.floor((minuteMs / perMinute) * count))
}

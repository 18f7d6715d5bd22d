import { projectFactor } from '../../limits.ts'
import { operatorId } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Receivers } from '../../registry/mail/send-limits.ts'

/** Limits of messages. 0 switches one off. */
export interface MailLimits {
  /** Messages that one agent may send in a minute. */
  readonly perMinute: number
  /** How often two agents may take turns in writing to each other in ten minutes, and how often one may broadcast to a project. */
  readonly stormTurns: number
  /** Messages to one agent in ten minutes, whoever sends them. Broadcasts do not count. */
  readonly stormMessages: number
}

/** Every limit is a bucket that is empty again after its window. */
const windowsMs = { project: 60_000, sender: 60_000, pair: 600_000, recipient: 600_000 } as const

/** The cost of a message in one bucket. */
export interface Charge {
  readonly kind: keyof typeof windowsMs
  /** The bucket: its kind, and whose it is. */
  readonly id: string
  readonly limit: number
  readonly windowMs: number
  /** The part of the window that the message takes. */
  readonly costMs: number
  readonly senderId: string
  /** True when the message costs nothing when its sender wrote the last one too. */
  readonly countsTurns: boolean
}

/** Recipients for which mail counts as one message: mail to more counts as several. */
const recipientsOfOne = 50

/**
 * Returns what a message adds to which buckets; without receivers, to those of its sender. The operator has no limits, and neither has mail
 * to the operator but for the rates of its sender. A message to any number of recipients may be sent once in a minute.
 */
export function chargesOf(caller: Caller, limits: MailLimits, receivers?: Receivers): Charge[] {
  if (caller.kind === 'operator') return []
  const { id: senderId, projectId } = caller
  const charges: Charge[] = []
  const charge = (kind: Charge['kind'], owner: string, limit: number, messages = 1, countsTurns = false): void => {
    const windowMs = windowsMs[kind]
    const costMs = limit === 0 ? 0 : Math.min(windowMs, Math.floor((windowMs / limit) * messages))
    if (costMs > 0) charges.push({ kind, id: `${kind}:${owner}`, limit, windowMs, costMs, senderId, countsTurns })
  }
  const messages = Math.max(1, Math.ceil((receivers?.recipients ?? 1) / recipientsOfOne))
  charge('project', projectId, perMinuteForProject(caller, limits), messages)
  charge('sender', senderId, caller.limits?.messagesPerMinute ?? limits.perMinute, messages)
  const peer = receivers?.peer
  if (peer?.id.startsWith('*')) charge('pair', `${senderId} ${peer.id}`, limits.stormTurns)
  else if (peer && peer.id !== operatorId) {
    const pair = senderId < peer.id ? `${senderId} ${peer.id}` : `${peer.id} ${senderId}`
    if (peer.id !== senderId) charge('pair', pair, limits.stormTurns, 1, true)
    charge('recipient', peer.id, limits.stormMessages)
  }
  return charges
}

function perMinuteForProject({ limits }: Pick<Caller, 'limits'>, { perMinute }: MailLimits): number {
  return projectFactor * (limits?.messagesPerMinute ?? perMinute)
}

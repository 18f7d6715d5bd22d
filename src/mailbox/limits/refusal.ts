import { Problem } from '../../errors.ts'
import { type NewEvent, operatorAudience } from '../../log/event.ts'
import { gatewayIdentity } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Receivers } from '../../registry/mail/send-limits.ts'
import type { Charge } from './mail-limits.ts'

/** A message that a limit refuses. */
export class RefusedSend extends Problem {
  readonly charge: Charge
  /** The event of the first refusal of a window; undefined for the others. */
  readonly event: NewEvent | undefined

  constructor(charge: Charge, caller: Caller, { peer }: Partial<Receivers>, waitMs: number, isFirst: boolean) {
    const { kind, limit } = charge
    const from = caller.identity
    const to = peer?.identity ?? ''
    const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
    const { code, limitName, agents, says, remedy, event } = refusals[kind]({
      from,
      to,
      limit,
      projectId: caller.projectId,
    })
    super(code, {
      detail: says.replace('{wait}', `${retryAfterSeconds} s`),
      ...(remedy && { remedy }),
      extra: { limit, limitName, ...(agents ? { agents } : {}), retryAfterSeconds },
    })
    this.charge = charge
    if (!isFirst || !event) return
    const ids = event === 'mail.rate_limited' ? [caller.id] : [caller.id, peer!.id].filter((id) => !id.startsWith('*'))
    this.event = {
      type: event,
      actor: gatewayIdentity,
      audience: [...new Set([operatorAudience, ...ids.sort()])],
      data: {
        ...(event === 'mail.rate_limited' ? { agent: from } : { agents: [from, to] }),
        limit,
        retryAfterSeconds,
        reason: this.message,
      },
    }
  }
}

interface RefusedMail {
  readonly from: string
  readonly to: string
  readonly limit: number
  readonly projectId: string
}

interface Refusal {
  readonly code: 'rate-limited' | 'storm-breaker' | 'recipient-storm'
  readonly limitName: string
  readonly agents?: string[]
  readonly says: string
  readonly remedy?: 'raise-rate'
  readonly event?: 'mail.rate_limited' | 'mail.storm_tripped'
}

const refusals: Record<Charge['kind'], (refused: RefusedMail) => Refusal> = {
  project: ({ projectId, limit }) => ({
    code: 'rate-limited',
    limitName: 'messagesPerMinute',
    says: `Project ${projectId} has used up messagesPerMinute: its agents together have sent ${limit} messages within a minute. Wait {wait}.`,
    remedy: 'raise-rate',
  }),
  sender: ({ from, limit }) => ({
    code: 'rate-limited',
    limitName: 'messagesPerMinute',
    says: `${from} has sent ${limit} messages within a minute. Wait {wait}, or send fewer and longer messages.`,
    event: 'mail.rate_limited',
  }),
  pair: ({ from, to, limit }) => ({
    code: 'storm-breaker',
    limitName: 'stormTurns',
    agents: [from, to],
    says: to.startsWith('*')
      ? `${from} has broadcast to ${to} ${limit} times within ten minutes. It may broadcast again in {wait}, and write to single agents meanwhile. Do not answer broadcasts with broadcasts.`
      : `${from} and ${to} have answered each other more than ${limit} times within ten minutes. They cannot write to each other for another {wait}. Do not answer answers.`,
    event: 'mail.storm_tripped',
  }),
  recipient: ({ from, to, limit }) => ({
    code: 'recipient-storm',
    limitName: 'stormMessages',
    agents: [to],
    says: `${to} was sent ${limit} messages within ten minutes. It accepts more only from agents that did not send the last one. ${from} may write to it again in {wait}. Do not answer answers, not even in a ring of several agents.`,
    event: 'mail.storm_tripped',
  }),
}

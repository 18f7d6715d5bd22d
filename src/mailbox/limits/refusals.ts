import { Problem } from '../../errors.ts'
import { type NewEvent, operatorAudience } from '../../log/event.ts'
import { gatewayIdentity } from '../../registry/agents/identity.ts'
import { totalMax, totalMaxFor } from './mail-limits.ts'

/** A refused message. */
export interface Refusal {
  /** The answer to the sender. */
  readonly problem: Problem
  /** The event to append; undefined when an earlier refusal has appended one. */
  readonly event: NewEvent | undefined
}

export interface Sender {
  readonly senderId: string
  readonly from: string
}

/** The other side of a message: one agent, or all agents of a project. */
export interface Peer {
  readonly id: string
  readonly identity: string
}

/** Refuses a sender that has used up its rate. */
export function rateRefusal({ senderId, from }: Sender, perMinute: number, waitMs: number): Required<Refusal> {
  const retryAfterSeconds = wholeSeconds(waitMs)
  const problem = new Problem('rate-limited', {
    detail: `${from} has sent ${perMinute} messages within a minute. Wait ${retryAfterSeconds} s, or send fewer and longer messages.`,
    extra: { limit: perMinute, limitName: 'messagesPerMinute', retryAfterSeconds },
  })
  const data = { agent: from, limit: perMinute, retryAfterSeconds, reason: problem.message }
  return { problem, event: refusalEvent('mail.rate_limited', [senderId], data) }
}

/** Refuses two agents that have replied to each other too often. */
export function exchangeRefusal(
  { senderId, from }: Sender,
  peer: Peer,
  stormTurns: number,
  waitMs: number,
): Required<Refusal> {
  const retryAfterSeconds = wholeSeconds(waitMs)
  const agents = [from, peer.identity]
  const problem = new Problem('storm-breaker', {
    detail: `${from} and ${peer.identity} have answered each other more than ${stormTurns} times within ten minutes. They cannot write to each other for another ${retryAfterSeconds} s. Do not answer answers.`,
    extra: { limit: stormTurns, limitName: 'stormTurns', agents, retryAfterSeconds },
  })
  const data = { agents, limit: stormTurns, retryAfterSeconds, reason: problem.message }
  return { problem, event: refusalEvent('mail.storm_tripped', [senderId, peer.id].sort(), data) }
}

/** Refuses a broadcast, because agents answer broadcasts with broadcasts. Blames the sender only if it has sent many itself: `sent`. */
export function broadcastRefusal(
  { senderId, from }: Sender,
  peer: Peer,
  { sent, stormTurns, waitMs }: { sent: number; stormTurns: number; waitMs: number },
): Required<Refusal> {
  const retryAfterSeconds = wholeSeconds(waitMs)
  const hasSentMany = totalMaxFor(sent, stormTurns) === stormTurns
  const agents = hasSentMany ? [from, peer.identity] : [peer.identity]
  const cause = hasSentMany ? `${from} has sent ${sent}, and` : `Others have sent most of these broadcasts; ${from}`
  const problem = new Problem('storm-breaker', {
    detail: `Agents have answered broadcasts to ${peer.identity} with broadcasts ${stormTurns} times within ten minutes. As many again are accepted, from agents that have sent few. ${cause} may broadcast again in ${retryAfterSeconds} s, and write to single agents meanwhile. Do not answer broadcasts with broadcasts.`,
    extra: { limit: stormTurns, limitName: 'stormTurns', agents, retryAfterSeconds },
  })
  const data = { agents, limit: stormTurns, retryAfterSeconds, reason: problem.message }
  return { problem, event: refusalEvent('mail.storm_tripped', [senderId], data) }
}

/** Refuses a sender that has sent too much of what its recipient has received from all senders together. */
export function recipientRefusal(
  { senderId, from }: Sender,
  peer: Peer,
  stormMessages: number,
  waitMs: number,
): Required<Refusal> {
  const retryAfterSeconds = wholeSeconds(waitMs)
  const problem = new Problem('recipient-storm', {
    detail: `${peer.identity} was sent ${stormMessages} messages within ten minutes. It accepts more only from agents that have sent few of them, and never more than ${totalMax(stormMessages)}. ${from} may write to it again in ${retryAfterSeconds} s. Do not answer answers, not even in a ring of several agents.`,
    extra: { limit: stormMessages, limitName: 'stormMessages', agents: [peer.identity], retryAfterSeconds },
  })
  const data = { agents: [from, peer.identity], limit: stormMessages, retryAfterSeconds, reason: problem.message }
  return { problem, event: refusalEvent('mail.storm_tripped', [senderId, peer.id], data) }
}

function wholeSeconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}

function refusalEvent(type: NewEvent['type'], agentIds: readonly string[], data: NewEvent['data']): NewEvent {
  return { type, actor: gatewayIdentity, audience: [...new Set([operatorAudience, ...agentIds])], data }
}

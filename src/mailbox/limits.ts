import { Problem } from '../errors.ts'
import { type NewEvent, operatorAudience } from '../log/event.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Transaction } from '../storage/database.ts'
import {
  closeWindow,
  countArrival,
  countTurn,
  isFirstRefusal,
  keepApart,
  readBlock,
  readRate,
  spendRate,
} from './limit-store.ts'

/** 0 switches a limit off. */
export interface MailLimits {
  /** Messages that one agent may send in a minute; it may send them all at once. */
  readonly perMinute: number
  /** How often two may take turns in writing to each other in ten minutes. */
  readonly stormTurns: number
  /** How many messages one agent may be sent in ten minutes, by all agents together; broadcasts do not count. */
  readonly stormMessages: number
}

export const stormWindowMs = 10 * 60_000
export const minuteMs = 60_000

/** What a caller may send in a minute: its project's limit, or the gateway's. */
export function perMinuteFor({ limits }: Pick<Caller, 'limits'>, { perMinute }: MailLimits): number {
  return limits?.messagesPerMinute ?? perMinute
}

/** What one message takes of a minute, in ms; 0 for no limit. */
export function costMsOf(perMinute: number): number {
  return perMinute === 0 ? 0 : Math.max(1, Math.floor(minuteMs / perMinute))
}

interface Sending {
  readonly senderId: string
  readonly from: string
  /** The other side: one agent, or everybody. */
  readonly peer: { readonly id: string; readonly identity: string } | undefined
}

/** A message that is not taken: what its sender is told, and what the log keeps of it, if this is news. */
export interface Refusal {
  readonly problem: Problem
  readonly event: NewEvent | undefined
}

/**
 * Counts a message against what its sender may send, against the storm breaker between the two, and against that of its
 * recipient, which opens where more than two answer each other in a ring. A refusal is answered, not
 * thrown, so that what it writes is kept: commit it, then throw its problem.
 */
export async function checkLimits(tx: Transaction, limits: MailLimits, sending: Sending): Promise<Refusal | undefined> {
  return (
    (await checkRate(tx, limits, sending)) ??
    (await checkStorm(tx, limits, sending)) ??
    (await checkArrivals(tx, limits, sending))
  )
}

async function checkRate(tx: Transaction, { perMinute }: MailLimits, sending: Sending): Promise<Refusal | undefined> {
  if (perMinute === 0) return undefined
  const { senderId, from } = sending
  const costMs = costMsOf(perMinute)
  if (await spendRate(tx, senderId, costMs, minuteMs)) return undefined
  const fullAt = (await readRate(tx, senderId)) ?? tx.now
  const { problem, event } = rateRefusal({ senderId, from }, perMinute, fullAt + costMs - minuteMs - tx.now)
  const isNews = await isFirstRefusal(tx, senderId, tx.now - minuteMs)
  return { problem, event: isNews ? event : undefined }
}

/** What a sender is told that has used up its rate, and what the log is told. */
export function rateRefusal(
  { senderId, from }: Omit<Sending, 'peer'>,
  perMinute: number,
  waitMs: number,
): Required<Refusal> {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  const problem = new Problem('rate-limited', {
    detail: `${from} has sent ${perMinute} messages within a minute. Wait ${retryAfterSeconds} s, or put more into one message.`,
    extra: { limit: perMinute, limitName: 'messagesPerMinute', retryAfterSeconds },
  })
  const data = { agent: from, limit: perMinute, retryAfterSeconds, reason: problem.message }
  return { problem, event: refused('mail.rate_limited', [senderId], data) }
}

async function checkStorm(tx: Transaction, { stormTurns }: MailLimits, sending: Sending): Promise<Refusal | undefined> {
  const { senderId, from, peer } = sending
  if (stormTurns === 0 || !peer || peer.id === senderId) return undefined
  const pair = [senderId, peer.id].sort() as [string, string]
  // Turns with everybody are one exchange, whoever takes them.
  const between: [string, string] = peer.id.startsWith('*') ? ['*', peer.id] : pair
  const turns = await countTurn(tx, between, senderId, stormWindowMs)
  if (turns !== undefined && turns <= stormTurns) return undefined
  const trips = turns !== undefined
  const until = trips ? tx.now + stormWindowMs : await readBlock(tx, between)
  if (trips) await keepApart(tx, between, until)
  const retryAfterSeconds = Math.max(1, Math.ceil((until - tx.now) / 1000))
  const problem = new Problem('storm-breaker', {
    detail: `${from} and ${peer.identity} have answered each other more than ${stormTurns} times within ten minutes. Nothing passes between them for another ${retryAfterSeconds} s. Stop answering answers.`,
    extra: { limit: stormTurns, agents: [from, peer.identity], retryAfterSeconds },
  })
  const data = { agents: [from, peer.identity], limit: stormTurns, retryAfterSeconds, reason: problem.message }
  const audience = peer.id.startsWith('*') ? [senderId] : pair
  return { problem, event: trips ? refused('mail.storm_tripped', audience, data) : undefined }
}

async function checkArrivals(
  tx: Transaction,
  { stormMessages }: MailLimits,
  { senderId, from, peer }: Sending,
): Promise<Refusal | undefined> {
  if (stormMessages === 0 || !peer || peer.id.startsWith('*') || peer.id === 'operator') return undefined
  const arrival = { recipientId: peer.id, senderId, limit: stormMessages, windowMs: stormWindowMs }
  if (await countArrival(tx, arrival)) return undefined
  const { isFirst, until } = await closeWindow(tx, peer.id, stormWindowMs)
  const { problem, event } = recipientRefusal({ senderId, from }, peer, stormMessages, until - tx.now)
  return { problem, event: isFirst ? event : undefined }
}

/** What a sender is told whose recipient takes no more, and what the log is told. */
export function recipientRefusal(
  { senderId, from }: Omit<Sending, 'peer'>,
  peer: { readonly id: string; readonly identity: string },
  stormMessages: number,
  waitMs: number,
): Required<Refusal> {
  const retryAfterSeconds = Math.max(1, Math.ceil(waitMs / 1000))
  const problem = new Problem('recipient-storm', {
    detail: `${peer.identity} was sent ${stormMessages} messages within ten minutes. It takes no more for another ${retryAfterSeconds} s. Stop answering answers, also in a ring.`,
    extra: { limit: stormMessages, agents: [peer.identity], retryAfterSeconds },
  })
  const data = { agents: [from, peer.identity], limit: stormMessages, retryAfterSeconds, reason: problem.message }
  return { problem, event: refused('mail.storm_tripped', [senderId, peer.id], data) }
}

function refused(type: NewEvent['type'], agentIds: readonly string[], data: NewEvent['data']): NewEvent {
  return { type, actor: '@gateway', audience: [...new Set([operatorAudience, ...agentIds])], data }
}

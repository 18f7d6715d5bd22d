import { operatorId } from '../../registry/agents/identity.ts'
import type { Reader, Transaction } from '../../storage/database.ts'
import { closeArrivalWindow, countArrival } from './arrival-store.ts'
import { countBroadcast, countBroadcastAnswer, refuseBroadcast } from './broadcast-store.ts'
import { blockExchange, countAnswer, readBlockedUntil } from './exchange-store.ts'
import { costMsOf, type MailLimits, minuteMs, stormWindowMs, totalMaxFor } from './mail-limits.ts'
import type { ProjectSends } from './project-sends.ts'
import {
  broadcastRefusal,
  exchangeRefusal,
  type Peer,
  type Refusal,
  rateRefusal,
  recipientRefusal,
  type Sender,
} from './refusals.ts'
import { addSends, countSend, readFullAt, recordFirstRefusal } from './send-rate-store.ts'
import type { SenderCounts } from './sender-counts.ts'

export interface LimitsContext {
  readonly limits: MailLimits
  /** What each agent has sent to each other one. */
  readonly senderCounts: SenderCounts
  /** What the agents of each project have sent. `checkLimits` does not use it: the sender of mail checks it first, and counts after the commit. */
  readonly projectSends: ProjectSends
}

/** Who gets a message. */
export interface Receivers {
  /** undefined: several agents, but not all of a project. */
  readonly peer: Peer | undefined
  /** How many agents get the message. */
  readonly recipients: number
}

type Sending = Sender & Receivers
type RecipientLimits = Pick<LimitsContext, 'limits' | 'senderCounts'>

/**
 * Counts a message against the rate of its sender, against the storm breaker of the pair, and against the storm breaker of its
 * recipient, which trips when more than two agents answer each other in a ring. A refusal is returned, not thrown, because its
 * writes must be kept: commit the transaction, then throw the problem.
 */
export async function checkLimits(
  tx: Transaction,
  context: RecipientLimits,
  sending: Sending,
): Promise<Refusal | undefined> {
  return (await checkRate(tx, context.limits, sending)) ?? (await checkRecipients(tx, context, sending))
}

/** The first half of `checkLimits`, for which nobody needs to know who gets the message: a sender beyond its rate costs no look-up. */
export function checkRate(tx: Transaction, limits: MailLimits, sender: Sender): Promise<Refusal | undefined> {
  return takeShare(tx, limits, sender, costMsOf(limits.perMinute))
}

/** Whether `checkRate` would refuse a message now. It counts nothing. */
export async function isBeyondRate(
  db: Reader,
  { perMinute }: MailLimits,
  senderId: string,
  now: number,
): Promise<boolean> {
  const fullAt = (await readFullAt(db, senderId)) ?? now
  return perMinute !== 0 && fullAt + costMsOf(perMinute) > now + minuteMs
}

/** The second half of `checkLimits`: what depends on who gets the message. */
export async function checkRecipients(
  tx: Transaction,
  context: RecipientLimits,
  sending: Sending,
): Promise<Refusal | undefined> {
  return (
    (await checkCrowd(tx, context.limits, sending)) ??
    (await checkExchange(tx, context.limits, sending)) ??
    (await checkArrivals(tx, context, sending))
  )
}

/** Counts what a message to many costs more than a message to one. */
async function checkCrowd(tx: Transaction, limits: MailLimits, sending: Sending): Promise<Refusal | undefined> {
  const costMs = costMsOf(limits.perMinute)
  const refusal = await takeShare(tx, limits, sending, costMsOf(limits.perMinute, sending.recipients) - costMs)
  // A message that its rate refuses counts nothing, and the transaction of a refusal is kept.
  if (refusal) await addSends(tx, sending.senderId, -costMs)
  return refusal
}

async function takeShare(
  tx: Transaction,
  { perMinute }: MailLimits,
  sender: Sender,
  costMs: number,
): Promise<Refusal | undefined> {
  if (costMs === 0) return undefined
  const { senderId } = sender
  if (await countSend(tx, senderId, costMs, minuteMs)) return undefined
  const fullAt = (await readFullAt(tx, senderId)) ?? tx.now
  const refusal = rateRefusal(sender, perMinute, fullAt + costMs - minuteMs - tx.now)
  const isFirst = await recordFirstRefusal(tx, senderId, tx.now - minuteMs)
  return isFirst ? refusal : { ...refusal, event: undefined }
}

async function checkExchange(
  tx: Transaction,
  { stormTurns }: MailLimits,
  sending: Sending,
): Promise<Refusal | undefined> {
  const { senderId, peer } = sending
  if (stormTurns === 0 || !peer || peer.id === senderId) return undefined
  if (peer.id.startsWith('*')) return checkBroadcast(tx, stormTurns, sending, peer)
  const pair = [senderId, peer.id].sort() as [string, string]
  const answers = await countAnswer(tx, pair, senderId, stormWindowMs)
  if (answers !== undefined && answers <= stormTurns) return undefined
  const isFirst = answers !== undefined
  const until = isFirst ? tx.now + stormWindowMs : await readBlockedUntil(tx, pair)
  if (isFirst) await blockExchange(tx, pair, until)
  const refusal = exchangeRefusal(sending, peer, stormTurns, until - tx.now)
  return isFirst ? refusal : { ...refusal, event: undefined }
}

/**
 * All broadcasts to one project are one exchange, whichever agents send them, because each of them wakes everybody. Once there are too
 * many answers, it is closed for agents that have sent many.
 */
async function checkBroadcast(
  tx: Transaction,
  stormTurns: number,
  sender: Sender,
  peer: Peer,
): Promise<Refusal | undefined> {
  const broadcast = { peerId: peer.id, senderId: sender.senderId }
  const sent = await countBroadcast(tx, broadcast, stormWindowMs)
  if (await countBroadcastAnswer(tx, broadcast, totalMaxFor(sent, stormTurns))) return undefined
  const { isFirst, until } = await refuseBroadcast(tx, broadcast, stormWindowMs)
  const refusal = broadcastRefusal(sender, peer, { sent, stormTurns, waitMs: until - tx.now })
  return isFirst ? refusal : { ...refusal, event: undefined }
}

async function checkArrivals(
  tx: Transaction,
  { limits: { stormMessages }, senderCounts }: RecipientLimits,
  sending: Sending,
): Promise<Refusal | undefined> {
  const { senderId, peer } = sending
  if (stormMessages === 0 || !peer || peer.id.startsWith('*') || peer.id === operatorId) return undefined
  const pair = { senderId, recipientId: peer.id }
  const limit = totalMaxFor(senderCounts.read(pair, tx.now), stormMessages)
  const windowAt = await countArrival(tx, { limit, windowMs: stormWindowMs, ...pair })
  if (windowAt !== undefined) {
    tx.onCommit(() => senderCounts.add(pair, windowAt, tx.now))
    return undefined
  }
  const { isFirst, until } = await closeArrivalWindow(tx, peer.id, stormWindowMs)
  const refusal = recipientRefusal(sending, peer, stormMessages, until - tx.now)
  return isFirst ? refusal : { ...refusal, event: undefined }
}

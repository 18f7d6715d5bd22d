import type { Core } from '../../core.ts'
import { WriteBehind } from '../../lib/write-behind.ts'
import type { NewEvent } from '../../log/event.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Transaction } from '../../storage/database.ts'
import { addArrivals, closeArrivalWindow } from './arrival-store.ts'
import { costMsOf, type MailLimits, minuteMs, perMinuteFor, stormWindowMs, totalMaxFor } from './mail-limits.ts'
import type { ProjectSends } from './project-sends.ts'
import { type Refusal, rateRefusal, recipientRefusal } from './refusals.ts'
import { addSends, recordFirstRefusal } from './send-rate-store.ts'
import type { SenderCounts } from './sender-counts.ts'

/** How long counts stay in memory before they are written. A crash loses at most this much. */
const writeMs = 1_000

interface Recipient {
  readonly id: string
  readonly handle: string
}

/** The use of a sender's rate. */
interface SenderCount {
  /** When the whole allowance is available again, ms since the epoch. */
  fullAt: number
  unwrittenMs: number
  /** When the last refusal became an event. */
  refusedAt: number
}

/** The messages to a recipient in the window that began at `windowAt`. */
interface RecipientCount {
  windowAt: number
  count: number
  unwritten: number
  lastSender: string
  /** When the last refusal became an event. */
  refusedAt: number
}

/** A refusal that becomes an event, unless another gateway has appended one. */
interface PendingEvent {
  readonly projectId: string
  readonly event: NewEvent
  readonly isFirst: (tx: Transaction) => Promise<boolean>
}

interface SendLimiterContext extends Core {
  readonly limits: MailLimits
  /** What each agent has sent to each other one, by mail too. */
  readonly senderCounts: SenderCounts
  /** What the agents of each project have sent, by mail too. */
  readonly projectSends: ProjectSends
}

/**
 * Limits A2A messages by the rates of their sender and its project, and the storm breaker of their recipient. Mail has the same limits and counts
 * in the same rows. This class decides in memory and writes all counts together: a message waits for no row that another
 * transaction has locked, and a refusal costs no query. Every write also reads what mail and other gateways have counted. Source: D22.
 */
export class SendLimiter implements AsyncDisposable {
  readonly #context: SendLimiterContext
  readonly #writer: WriteBehind
  readonly #senders = new Map<string, SenderCount>()
  readonly #recipients = new Map<string, RecipientCount>()
  readonly #pendingEvents: PendingEvent[] = []

  constructor(context: SendLimiterContext) {
    this.#context = context
    const failed = (err: unknown) => context.log.error({ err }, 'sends.write_failed')
    this.#writer = new WriteBehind({ clock: context.clock, write: () => this.#write(), retryMs: writeMs, failed })
  }

  /** Throws when a message would be refused. Counts nothing. Errors: `rate-limited`, `recipient-storm`. */
  check(caller: Caller, recipient: Recipient): void {
    if (caller.kind === 'operator') return
    const refusal = this.#refuse(caller, recipient, this.#context.clock.now())
    if (refusal) throw refusal.problem
  }

  /** Counts a message; throws and counts nothing when it is refused. Errors: `rate-limited`, `recipient-storm`. */
  take(caller: Caller, recipient: Recipient): void {
    if (caller.kind === 'operator') return
    this.check(caller, recipient)
    this.#writer.schedule(writeMs)
    const now = this.#context.clock.now()
    this.#context.projectSends.count(caller, this.#context.limits)
    const costMs = costMsOf(perMinuteFor(caller, this.#context.limits))
    if (costMs > 0) {
      const spent = this.#senderOf(caller.id)
      spent.fullAt = Math.max(spent.fullAt, now) + costMs
      spent.unwrittenMs += costMs
    }
    if (this.#context.limits.stormMessages === 0) return
    const arrived = this.#recipientOf(recipient.id, now)
    arrived.count++
    arrived.unwritten++
    arrived.lastSender = caller.id
    this.#context.senderCounts.add({ senderId: caller.id, recipientId: recipient.id }, arrived.windowAt, now)
  }

  /** Writes what waits, once. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.#writer[Symbol.asyncDispose]()
  }

  /** Writes counts and events, and reads what others have counted. */
  async #write(): Promise<void> {
    const senders = [...this.#senders].filter(([, { unwrittenMs }]) => unwrittenMs > 0).sort(byId)
    const recipients = [...this.#recipients].filter(([, { unwritten }]) => unwritten > 0).sort(byId)
    const events = this.#pendingEvents.splice(0)
    if (senders.length + recipients.length + events.length > 0) {
      const sent = senders.map(([id, one]) => ({ id, one, costMs: one.unwrittenMs }))
      const arrived = recipients.map(([id, one]) => ({ id, one, count: one.unwritten }))
      await this.#context.db.transaction(async (tx) => {
        for (const { id, one, costMs } of sent) await this.#writeSender(tx, id, one, costMs)
        for (const { id, one, count } of arrived) await this.#writeRecipient(tx, id, one, count)
        for (const { projectId, event, isFirst } of events) {
          if (await isFirst(tx)) await this.#context.append(tx, projectId, [event])
        }
      })
    }
    this.#forget(this.#context.clock.now())
  }

  #refuse(caller: Caller, recipient: Recipient, now: number): Refusal | undefined {
    const { id: senderId, identity: from } = caller
    const perMinute = perMinuteFor(caller, this.#context.limits)
    const costMs = costMsOf(perMinute)
    const spent = this.#senders.get(senderId)
    if (spent && costMs > 0 && spent.fullAt + costMs > now + minuteMs) {
      const waitMs = Math.min(spent.fullAt + costMs - minuteMs - now, minuteMs)
      const refusal = rateRefusal({ senderId, from }, perMinute, waitMs)
      if (spent.refusedAt <= now - minuteMs) {
        spent.refusedAt = now
        this.#addEvent(caller, refusal, (tx) => recordFirstRefusal(tx, senderId, tx.now - minuteMs))
      }
      return refusal
    }
    const { limits, senderCounts, projectSends } = this.#context
    const ofProject = projectSends.refuse(caller, limits)
    if (ofProject) return ofProject
    const { stormMessages } = limits
    const arrived = this.#recipients.get(recipient.id)
    if (!arrived || stormMessages === 0 || isOver(arrived, now) || arrived.count < stormMessages) return undefined
    const sent = senderCounts.read({ senderId, recipientId: recipient.id }, now)
    if (arrived.count < totalMaxFor(sent, stormMessages)) return undefined
    const peer = { id: recipient.id, identity: recipient.handle }
    const waitMs = arrived.windowAt + stormWindowMs - now
    const refusal = recipientRefusal({ senderId, from }, peer, stormMessages, waitMs)
    if (arrived.refusedAt < arrived.windowAt) {
      arrived.refusedAt = now
      this.#addEvent(caller, refusal, async (tx) => (await closeArrivalWindow(tx, peer.id, stormWindowMs)).isFirst)
    }
    return refusal
  }

  #addEvent({ projectId }: Caller, { event }: Refusal, isFirst: PendingEvent['isFirst']): void {
    if (event) this.#pendingEvents.push({ projectId, event, isFirst })
    this.#writer.schedule(writeMs)
  }

  async #writeSender(tx: Transaction, senderId: string, sender: SenderCount, costMs: number): Promise<void> {
    const fullAt = await addSends(tx, senderId, costMs)
    tx.onCommit(() => {
      sender.unwrittenMs -= costMs
      sender.fullAt = Math.max(sender.fullAt, fullAt)
    })
  }

  async #writeRecipient(tx: Transaction, recipientId: string, recipient: RecipientCount, count: number): Promise<void> {
    const { lastSender: senderId } = recipient
    const written = await addArrivals(tx, { recipientId, senderId, count, windowMs: stormWindowMs })
    tx.onCommit(() => {
      recipient.unwritten -= count
      // Messages that arrived meanwhile are not written yet.
      recipient.count = Math.max(recipient.count, written.count + recipient.unwritten)
      recipient.windowAt = Math.min(recipient.windowAt, written.windowAt)
    })
  }

  #senderOf(senderId: string): SenderCount {
    const known = this.#senders.get(senderId)
    if (known) return known
    const sender: SenderCount = { fullAt: 0, unwrittenMs: 0, refusedAt: 0 }
    this.#senders.set(senderId, sender)
    return sender
  }

  #recipientOf(recipientId: string, now: number): RecipientCount {
    const known = this.#recipients.get(recipientId)
    if (known && !isOver(known, now)) return known
    const unwritten = known?.unwritten ?? 0
    const recipient: RecipientCount = { windowAt: now, count: 0, unwritten, lastSender: '', refusedAt: 0 }
    this.#recipients.set(recipientId, recipient)
    return recipient
  }

  #forget(now: number): void {
    for (const [id, { fullAt, unwrittenMs, refusedAt }] of this.#senders) {
      if (fullAt <= now && unwrittenMs === 0 && refusedAt <= now - minuteMs) this.#senders.delete(id)
    }
    for (const [id, arrived] of this.#recipients) {
      if (isOver(arrived, now) && arrived.unwritten === 0) this.#recipients.delete(id)
    }
  }
}

/** A window begins in the future when the clock was set back. */
function isOver({ windowAt }: RecipientCount, now: number): boolean {
  return windowAt <= now - stormWindowMs || windowAt > now
}

/** All gateways write rows in one order, so that no two of them wait for each other. */
function byId([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

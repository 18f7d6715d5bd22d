import type { Clock } from '../lib/clock.ts'
import { Sweeper } from '../lib/sweeper.ts'
import type { AppendEvents } from '../log/append.ts'
import type { NewEvent } from '../log/event.ts'
import type { Logger } from '../logger.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { addArrivals, addSpent, closeWindow, isFirstRefusal } from './limit-store.ts'
import {
  costMsOf,
  type MailLimits,
  minuteMs,
  perMinuteFor,
  type Refusal,
  rateRefusal,
  recipientRefusal,
  stormWindowMs,
} from './limits.ts'

/** How long counts are kept in memory before they are written: a crash forgets so much at the most. */
const writeMs = 1_000

interface Recipient {
  readonly id: string
  readonly handle: string
}

/** What a sender has used: when its allowance is whole again, and what of it is not written yet. */
interface Spent {
  fullAt: number
  unwrittenMs: number
  /** When a refusal was told to the log last. */
  toldAt: number
}

/** What a recipient was sent in the window that began at `windowAt`. */
interface Arrived {
  windowAt: number
  count: number
  unwritten: number
  lastSender: string
  toldAt: number
}

/** A refusal that the log is told of, unless it knows already. */
interface Untold {
  readonly projectId: string
  readonly event: NewEvent
  readonly isNews: (tx: Transaction) => Promise<boolean>
}

interface SendMeterContext {
  readonly db: Database
  readonly append: AppendEvents
  readonly clock: Clock
  readonly log: Logger
  readonly limits: MailLimits
}

/**
 * Counts A2A messages against the rate of their sender and the storm breaker of their recipient: those of the mail, and the same
 * rows of the store. It decides in memory and writes every second, for all of them together: a message waits for no row that
 * another one holds to its commit, and a refusal costs no query. Gateways of one store, and the mail, learn of each other with
 * every write. Source: D22.
 */
export class SendMeter extends Sweeper {
  readonly #context: SendMeterContext
  readonly #senders = new Map<string, Spent>()
  readonly #recipients = new Map<string, Arrived>()
  readonly #untold: Untold[] = []

  constructor(context: SendMeterContext) {
    const { clock, log } = context
    super({ clock, everyMs: writeMs, firstAfterMs: writeMs, failed: (err) => log.error({ err }, 'sends.write_failed') })
    this.#context = context
  }

  /** Throws where a message would be refused, and counts nothing. Errors: `rate-limited`, `recipient-storm`. */
  check(caller: Caller, recipient: Recipient): void {
    if (caller.kind === 'operator') return
    const refusal = this.#refuse(caller, recipient, this.#context.clock.now())
    if (refusal) throw refusal.problem
  }

  /** Counts a message, or throws and counts nothing. Errors: `rate-limited`, `recipient-storm`. */
  take(caller: Caller, recipient: Recipient): void {
    this.check(caller, recipient)
    if (caller.kind === 'operator') return
    const now = this.#context.clock.now()
    const costMs = costMsOf(perMinuteFor(caller, this.#context.limits))
    if (costMs > 0) {
      const spent = this.#spentOf(caller.id)
      spent.fullAt = Math.max(spent.fullAt, now) + costMs
      spent.unwrittenMs += costMs
    }
    if (this.#context.limits.stormMessages === 0) return
    const arrived = this.#arrivedOf(recipient.id, now)
    arrived.count++
    arrived.unwritten++
    arrived.lastSender = caller.id
  }

  /** Writes what was counted and what is news, and learns what others have counted. */
  async runOnce(): Promise<void> {
    const senders = [...this.#senders].filter(([, { unwrittenMs }]) => unwrittenMs > 0).sort(byId)
    const recipients = [...this.#recipients].filter(([, { unwritten }]) => unwritten > 0).sort(byId)
    const untold = this.#untold.splice(0)
    if (senders.length + recipients.length + untold.length > 0) {
      const spent = senders.map(([id, one]) => ({ id, one, costMs: one.unwrittenMs }))
      const arrived = recipients.map(([id, one]) => ({ id, one, count: one.unwritten }))
      await this.#context.db.transaction(async (tx) => {
        for (const { id, one, costMs } of spent) await this.#writeSpent(tx, id, one, costMs)
        for (const { id, one, count } of arrived) await this.#writeArrived(tx, id, one, count)
        for (const { projectId, event, isNews } of untold) {
          if (await isNews(tx)) await this.#context.append(tx, projectId, [event])
        }
      })
    }
    this.#forget(this.#context.clock.now())
  }

  override async stop(): Promise<void> {
    await super.stop()
    await this.runOnce().catch((err: unknown) => this.#context.log.error({ err }, 'sends.write_failed'))
  }

  protected async sweep(): Promise<boolean> {
    await this.runOnce()
    return false
  }

  #refuse(caller: Caller, recipient: Recipient, now: number): Refusal | undefined {
    const { id: senderId, identity: from } = caller
    const perMinute = perMinuteFor(caller, this.#context.limits)
    const costMs = costMsOf(perMinute)
    const spent = this.#senders.get(senderId)
    if (spent && costMs > 0 && spent.fullAt + costMs > now + minuteMs) {
      const waitMs = Math.min(spent.fullAt + costMs - minuteMs - now, minuteMs)
      const refusal = rateRefusal({ senderId, from }, perMinute, waitMs)
      if (spent.toldAt <= now - minuteMs) {
        spent.toldAt = now
        this.#tell(caller, refusal, (tx) => isFirstRefusal(tx, senderId, tx.now - minuteMs))
      }
      return refusal
    }
    const { stormMessages } = this.#context.limits
    const arrived = this.#recipients.get(recipient.id)
    if (!arrived || stormMessages === 0 || isOver(arrived, now) || arrived.count < stormMessages) return undefined
    const peer = { id: recipient.id, identity: recipient.handle }
    const waitMs = arrived.windowAt + stormWindowMs - now
    const refusal = recipientRefusal({ senderId, from }, peer, stormMessages, waitMs)
    if (arrived.toldAt < arrived.windowAt) {
      arrived.toldAt = now
      this.#tell(caller, refusal, async (tx) => (await closeWindow(tx, peer.id, stormWindowMs)).isFirst)
    }
    return refusal
  }

  #tell({ projectId }: Caller, { event }: Refusal, isNews: Untold['isNews']): void {
    if (event) this.#untold.push({ projectId, event, isNews })
  }

  async #writeSpent(tx: Transaction, senderId: string, spent: Spent, costMs: number): Promise<void> {
    const fullAt = await addSpent(tx, senderId, costMs)
    tx.onCommit(() => {
      spent.unwrittenMs -= costMs
      spent.fullAt = Math.max(spent.fullAt, fullAt)
    })
  }

  async #writeArrived(tx: Transaction, recipientId: string, arrived: Arrived, count: number): Promise<void> {
    const { lastSender: senderId } = arrived
    const { turns, windowAt } = await addArrivals(tx, { recipientId, senderId, count, windowMs: stormWindowMs })
    tx.onCommit(() => {
      arrived.unwritten -= count
      // What has come meanwhile is still to be written.
      arrived.count = Math.max(arrived.count, turns + arrived.unwritten)
      arrived.windowAt = Math.min(arrived.windowAt, windowAt)
    })
  }

  #spentOf(senderId: string): Spent {
    const known = this.#senders.get(senderId)
    if (known) return known
    const spent: Spent = { fullAt: 0, unwrittenMs: 0, toldAt: 0 }
    this.#senders.set(senderId, spent)
    return spent
  }

  #arrivedOf(recipientId: string, now: number): Arrived {
    const known = this.#recipients.get(recipientId)
    if (known && !isOver(known, now)) return known
    const unwritten = known?.unwritten ?? 0
    const arrived: Arrived = { windowAt: now, count: 0, unwritten, lastSender: '', toldAt: 0 }
    this.#recipients.set(recipientId, arrived)
    return arrived
  }

  #forget(now: number): void {
    for (const [id, { fullAt, unwrittenMs, toldAt }] of this.#senders) {
      if (fullAt <= now && unwrittenMs === 0 && toldAt <= now - minuteMs) this.#senders.delete(id)
    }
    for (const [id, arrived] of this.#recipients) {
      if (isOver(arrived, now) && arrived.unwritten === 0) this.#recipients.delete(id)
    }
  }
}

/** A window that begins in the future is of a clock set back. */
function isOver({ windowAt }: Arrived, now: number): boolean {
  return windowAt <= now - stormWindowMs || windowAt > now
}

/** In one order, so that no two gateways wait for each other. */
function byId([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1
}

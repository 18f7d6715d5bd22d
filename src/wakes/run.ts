import type { Clock } from '../lib/clock.ts'
import type { AppendEvents } from '../log/append.ts'
import type { LogEvent } from '../log/event.ts'
import type { Logger } from '../logger.ts'
import { identityOf } from '../registry/agents.ts'
import type { Subscription, WakeTarget } from '../registry/subscription.ts'
import { listSubscriptions } from '../registry/subscription-store.ts'
import type { Database } from '../storage/database.ts'
import type { Channel, Channels, DeliveryResult } from './channel.ts'
import { findDelivery, saveDelivery } from './delivery-store.ts'
import { DigestBuilder } from './digest.ts'
import { digestEmission, type Emission, singleEmission } from './emission.ts'
import { dueAt } from './journal.ts'
import { advanceCursor, degradeSubscription, handBackLease, leaseMs, releaseLease, renewLease } from './lease-store.ts'
import { readPending } from './pending.ts'
import type { Claim, Recorder } from './recorder.ts'

/** Failed events in a row that make a subscription degraded. Source: S1-34. */
const failuresMax = 3
/** How far a run may send ahead of its records: bounds what a crash sends again. */
const aheadMax = 64

export interface RunContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
  readonly append: AppendEvents
  readonly channels: Channels
  readonly recorder: Recorder
}

/**
 * Works one claimed subscription until nothing is left for it: reads on from the cursor, sends in log order, records,
 * and gives the lease back. Answers when it falls due again, if it does.
 */
export async function runSubscription(
  context: RunContext,
  subscription: Subscription,
  owner: string,
  signal: AbortSignal,
): Promise<number | undefined> {
  const run = new Run(context, subscription, owner, signal)
  return (await run.sendAll()) ? await run.release() : undefined
}

class Run {
  readonly #context: RunContext
  readonly #subscription: Subscription
  readonly #signal: AbortSignal
  readonly #claim: Claim
  #identity = ''
  #siblings: Subscription[] = []
  #first = true

  constructor(context: RunContext, subscription: Subscription, owner: string, signal: AbortSignal) {
    this.#context = context
    this.#subscription = subscription
    this.#signal = signal
    const { cursorLogId, lastEmittedLogId, failedInARow, windowUntil } = subscription
    this.#claim = {
      subscriptionId: subscription.id,
      owner,
      progress: { cursorLogId, lastEmittedLogId, failedInARow, windowUntil },
      lost: false,
    }
  }

  /** False: the claim has ended on the way (degraded, lost, stopped). */
  async sendAll(): Promise<boolean> {
    const { db } = this.#context
    this.#identity = await identityOf(db, this.#subscription.agentId)
    if (this.#subscription.trigger === 'TASK_STATE_CHANGED')
      this.#siblings = await listSubscriptions(db, this.#subscription.agentId)
    const { kind, coalesceMs, resumeWithDigest, target } = this.#subscription
    if (kind === 'wake' && !resumeWithDigest && (target as WakeTarget).coalesceMode === 'leading')
      return this.#sendLeading()
    if (kind === 'wake' && (resumeWithDigest || coalesceMs > 0)) return this.#sendDigest()
    return this.#sendEach()
  }

  /** Gives the lease back, with the time at which the next matching event's window ends. */
  async release(): Promise<number | undefined> {
    const { db, recorder } = this.#context
    await recorder.settled()
    return db.transaction(async (tx) => {
      let after = this.#claim.progress.cursorLogId
      let due: number | null = null
      for (;;) {
        const page = await readPending(tx, this.#subscription, this.#siblings, after)
        const first = page.events[0]
        if (first) {
          const { coalesceMs, target } = this.#subscription
          due = dueAt(
            { coalesceMs, windowUntil: this.#claim.progress.windowUntil },
            target as WakeTarget,
            first.createdAt,
          )
          break
        }
        after = page.scannedTo
        if (!page.more) break
      }
      const held = await releaseLease(tx, this.#subscription.id, this.#claim.owner, after, due)
      return held && due !== null ? due : undefined
    })
  }

  async #sendEach(): Promise<boolean> {
    for (;;) {
      const page = await readPending(
        this.#context.db,
        this.#subscription,
        this.#siblings,
        this.#claim.progress.cursorLogId,
      )
      for (const event of page.events) {
        if (!(await this.#send(this.#single(event), event.logId))) return false
      }
      this.#claim.progress = {
        ...this.#claim.progress,
        cursorLogId: Math.max(page.scannedTo, this.#claim.progress.cursorLogId),
      }
      if (page.events.length === 0 && !page.more) return true
    }
  }

  async #sendLeading(): Promise<boolean> {
    const page = await readPending(
      this.#context.db,
      this.#subscription,
      this.#siblings,
      this.#claim.progress.cursorLogId,
      this.#rangeEnd,
    )
    const first = page.events[0]
    if (first && first.createdAt >= this.#claim.progress.windowUntil)
      return this.#send(this.#single(first), first.logId)
    return this.#sendDigest()
  }

  async #sendDigest(): Promise<boolean> {
    const digest = new DigestBuilder()
    let after = this.#claim.progress.cursorLogId
    for (;;) {
      const page = await readPending(this.#context.db, this.#subscription, this.#siblings, after, this.#rangeEnd)
      for (const event of page.events) digest.add(event)
      after = page.scannedTo
      if (!page.more) break
    }
    if (digest.count === 0) {
      this.#claim.progress = { ...this.#claim.progress, cursorLogId: after }
      return true
    }
    const { lastEmittedLogId } = this.#claim.progress
    const emission = digestEmission(
      this.#subscription,
      this.#identity,
      digest,
      lastEmittedLogId,
      this.#context.clock.now(),
    )
    return this.#send(emission, after)
  }

  get #rangeEnd(): number {
    return this.#subscription.claimedToLogId ?? Number.MAX_SAFE_INTEGER
  }

  #single(event: LogEvent): Emission {
    return singleEmission(this.#subscription, event, this.#claim.progress.lastEmittedLogId, this.#context.clock.now())
  }

  /** Sends one emission and decides what follows. False: the claim has ended. */
  async #send(emission: Emission, cursorLogId: number): Promise<boolean> {
    if (this.#claim.lost) return false
    if (this.#signal.aborted) return this.#stop()
    const result = await this.#deliver(emission)
    if (result.outcome === 'stopped') return this.#stop()
    if (result.outcome === 'rejected') return this.#reject(emission, result)
    const { coalesceMs, target } = this.#subscription
    const leading = (target as WakeTarget).coalesceMode === 'leading'
    const { windowUntil, failedInARow } = this.#claim.progress
    this.#claim.progress = {
      cursorLogId,
      lastEmittedLogId: emission.logId,
      failedInARow: result.outcome === 'failed' ? failedInARow + 1 : 0,
      windowUntil: leading ? this.#context.clock.now() + coalesceMs : windowUntil,
    }
    if (result.outcome === 'failed') return this.#fail(emission, result)
    const { recorder } = this.#context
    recorder.delivered(this.#claim, emission, result.attempts)
    if (recorder.backlog(this.#claim) >= aheadMax) await recorder.settled()
    return true
  }

  async #deliver(emission: Emission): Promise<DeliveryResult> {
    const { db, log } = this.#context
    const prior = this.#first ? await findDelivery(db, this.#subscription.id, emission.eventId) : undefined
    this.#first = false
    const attempts = prior?.attempts ?? []
    try {
      return await this.#channel().deliver({
        subscription: this.#subscription,
        agentIdentity: this.#identity,
        emission,
        attempts,
        nextAttemptAt: prior?.nextAttemptAt ?? null,
        signal: this.#signal,
        retryLater: (made, nextAttemptAt) => this.#retryLater(emission, made, nextAttemptAt),
      })
    } catch (error) {
      // A subscription that cannot be sent for counts as failing: it must not look healthy and receive nothing.
      log.error({ err: error, subscriptionId: this.#subscription.id, eventId: emission.eventId }, 'wake.broken')
      return { outcome: 'failed', reason: 'misconfigured', attempts }
    }
  }

  #channel(): Channel {
    const { kind, harnessTarget } = this.#subscription
    const name = kind === 'push' ? 'push' : harnessTarget
    const channel = this.#context.channels[name as keyof Channels]
    if (!channel) throw new Error(`This gateway has no channel for ${name}.`)
    return channel
  }

  async #retryLater(emission: Emission, attempts: DeliveryResult['attempts'], nextAttemptAt: number): Promise<boolean> {
    await this.#context.recorder.settled()
    const held = await this.#context.db.transaction(async (tx) => {
      await saveDelivery(tx, this.#subscription.id, emission, attempts, 'pending', nextAttemptAt)
      return renewLease(tx, this.#subscription.id, this.#claim.owner, nextAttemptAt + leaseMs)
    })
    if (!held) this.#claim.lost = true
    return held
  }

  async #stop(): Promise<false> {
    const { db, clock, recorder } = this.#context
    await recorder.settled()
    await db.transaction((tx) => handBackLease(tx, this.#subscription.id, this.#claim.owner, clock.now()))
    return false
  }

  /** The schedule ran out: the cursor passes the event, and the third in a row degrades. */
  async #fail(emission: Emission, result: DeliveryResult): Promise<boolean> {
    const { failedInARow } = this.#claim.progress
    const reason = result.reason ?? 'failed'
    return this.#end(
      emission,
      result,
      failedInARow >= failuresMax ? `${failuresMax} events failed in a row; the last: ${reason}` : null,
    )
  }

  /** The receiver says that no retry will help: degraded at once, and the cursor stays, so that nothing is lost. */
  async #reject(emission: Emission, result: DeliveryResult): Promise<boolean> {
    return this.#end(emission, result, result.reason ?? 'rejected')
  }

  async #end(emission: Emission, result: DeliveryResult, degradedBecause: string | null): Promise<boolean> {
    const { db, recorder, append } = this.#context
    const { id, projectId, agentId } = this.#subscription
    const { owner, progress } = this.#claim
    const outcome = result.outcome === 'rejected' ? 'rejected' : 'failed'
    await recorder.settled()
    const held = await db.transaction(async (tx) => {
      await saveDelivery(tx, id, emission, result.attempts, outcome, null)
      if (!(await advanceCursor(tx, id, owner, progress))) return false
      const data = {
        subscriptionId: id,
        agent: this.#identity,
        eventId: emission.eventId,
        logId: emission.logId,
        reason: result.reason,
      }
      const failed = { type: 'wake.failed', actor: '@gateway', audience: [agentId], data } as const
      if (degradedBecause === null) {
        await append(tx, projectId, [failed])
        return true
      }
      await degradeSubscription(tx, id, owner, degradedBecause)
      const degraded = { subscriptionId: id, agent: this.#identity, reason: degradedBecause }
      await append(tx, projectId, [
        failed,
        { type: 'subscription.degraded', actor: '@gateway', audience: [agentId], data: degraded },
      ])
      return true
    })
    if (!held) this.#claim.lost = true
    return held && degradedBecause === null
  }
}

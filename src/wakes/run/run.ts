import { setMaxListeners } from 'node:events'
import { sleep } from '../../lib/clock.ts'
import type { LogEvent } from '../../log/event.ts'
import { GrowthSignal } from '../../log/growth-signal.ts'
import { identityOf } from '../../registry/agents/agents.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import { DigestBuilder } from '../content/digest.ts'
import { digestEmission, type Emission, singleEmission } from '../content/emission.ts'
import { type Pending, readPending, withoutDelivered } from '../read/pending.ts'
import { formOf, maxInFlight } from '../rules/window.ts'
import { isHeldLong, type Lease, requeueLease } from '../store/lease-store.ts'
import { Lane } from './lane.ts'
import { PendingReader } from './reading.ts'
import type { RunContext, RunControl } from './run-context.ts'
import { sendReplays } from './send-replays.ts'
import { Sender } from './sender.ts'

const outageMs = 1_000
const identitiesMax = 20_000

/**
 * Works one leased subscription until nothing is left for it: reads on from the cursor, sends in log order, records,
 * and gives the lease back. Answers when it falls due again, if it does. Never rejects.
 */
export async function runSubscription(
  context: RunContext,
  subscription: Subscription,
  owner: string,
  control: RunControl,
): Promise<number | undefined> {
  const run = new Run(context, subscription, owner, control)
  try {
    return await run.work()
  } catch (error) {
    context.log.error({ err: error, subscriptionId: subscription.id }, 'wake.run_failed')
    return run.recover()
  }
}

class Run {
  readonly #context: RunContext
  readonly #subscription: Subscription
  readonly #lease: Lease
  readonly #control: RunControl
  readonly #reading: PendingReader

  constructor(context: RunContext, subscription: Subscription, owner: string, control: RunControl) {
    this.#context = context
    this.#subscription = subscription
    this.#control = control
    this.#reading = new PendingReader(context, subscription, control.event)
    const { cursorLogId, lastEmittedLogId, failedInARow, windowUntil } = subscription
    this.#lease = {
      subscriptionId: subscription.id,
      audience: subscription.audience,
      owner,
      since: context.clock.now(),
      progress: { cursorLogId, lastEmittedLogId, failedInARow, windowUntil },
      lost: false,
    }
  }

  /** Answers when the subscription falls due again, if it does. Rejects when the store fails. */
  async work(): Promise<number | undefined> {
    const identity = await this.#identity()
    const sender = new Sender(this.#context, this.#subscription, identity, this.#lease, this.#control)
    const isFresh = this.#control.event !== undefined
    const goesOn = isFresh || (await sendReplays(this.#context, this.#subscription, identity, this.#lease, sender))
    // False: the lease has ended on the way (degraded, lost, stopped).
    while (goesOn && (await this.#inForm(sender, identity))) {
      const end = await this.#context.recorder.end(this.#lease, this.#subscription)
      if (!end.continues) return end.dueAt
      this.#reading.continueWith(end.next, end.hasMore)
    }
    // Whoever leases next finds on record what arrived, and does not send it again.
    await this.#context.recorder.settled(this.#lease)
    return undefined
  }

  async #identity(): Promise<string> {
    const { db, identities } = this.#context
    const { agentId } = this.#subscription
    const known = identities.get(agentId)
    if (known !== undefined) return known
    const identity = await identityOf(db, agentId)
    if (identities.size >= identitiesMax) identities.clear()
    identities.set(agentId, identity)
    return identity
  }

  #inForm(sender: Sender, identity: string): Promise<boolean> {
    switch (formOf(this.#subscription)) {
      case 'each':
        return this.#sendEach(sender)
      case 'digest':
        return this.#sendDigest(sender, identity)
      case 'leading':
        return this.#sendLeading(sender, identity)
    }
  }

  /** After a failure of the store: once it takes writes again, what was sent is recorded and the rest falls due. */
  async recover(): Promise<number | undefined> {
    const { db, clock, recorder } = this.#context
    const { signal } = this.#control
    for (;;) {
      await sleep(clock, outageMs, signal)
      if (signal.aborted) return undefined // the lease runs out by itself
      try {
        await recorder.settled(this.#lease)
        const now = clock.now()
        const held = await db.transaction((tx) => requeueLease(tx, this.#subscription.id, this.#lease.owner, now))
        return held ? now : undefined
      } catch {
        // Not yet. The failure that brought us here is logged.
      }
    }
  }

  /** Sends event by event, in order: each behind the last, or up to `maxInFlight` of them at the same time. */
  async #sendEach(sender: Sender): Promise<boolean> {
    const width = maxInFlight(this.#subscription)
    const lane = new Lane(sender)
    // Every try in flight listens for the run's end, twice while it waits.
    if (width > 1) setMaxListeners(3 * width, this.#control.signal)
    const growth = width > 1 ? new GrowthSignal(this.#context.notifier, this.#subscription.projectId) : undefined
    let { cursorLogId: after, lastEmittedLogId: previous } = this.#lease.progress
    try {
      for (;;) {
        const page = this.#isToShare ? nothing(after) : await this.#reading.next(after)
        for (const event of page.events) {
          lane.start(singleEmission(this.#subscription, event, previous, this.#context.clock.now()), event.logId)
          previous = event.logId
          if (lane.length >= width && !(await lane.finishOldest())) return false
        }
        after = page.scannedTo
        if (page.events.length > 0 || page.more) continue
        if (lane.length === 0) {
          this.#pass(after)
          return true
        }
        // New events need not wait for the oldest one in flight.
        const oldest = await Promise.race([lane.oldestSettled(), growth?.next()])
        if (oldest && !(await lane.finishOldest())) return false
      }
    } finally {
      growth?.close()
      await lane.abandoned()
    }
  }

  /** Whether it comes to its end though there is more, for others who may have time. */
  get #isToShare(): boolean {
    const { clock, hasPeers } = this.#context
    return isHeldLong(this.#lease, clock.now()) && hasPeers()
  }

  async #sendLeading(sender: Sender, identity: string): Promise<boolean> {
    const page = await this.#nextPage(this.#lease.progress.cursorLogId)
    const first = page.events[0]
    if (first && first.createdAt >= this.#lease.progress.windowUntil)
      return sender.send(this.#single(first), first.logId)
    return this.#sendDigest(sender, identity)
  }

  async #sendDigest(sender: Sender, identity: string): Promise<boolean> {
    const digest = new DigestBuilder()
    let after = this.#lease.progress.cursorLogId
    for (let more = true; more; ) {
      const page = await this.#nextPage(after)
      for (const event of page.events) digest.add(event)
      after = page.scannedTo
      more = page.more
    }
    if (digest.count === 0) {
      this.#pass(after)
      return true
    }
    const { lastEmittedLogId } = this.#lease.progress
    const now = this.#context.clock.now()
    return sender.send(digestEmission(this.#subscription, identity, digest, lastEmittedLogId, now), after)
  }

  /** The next page of a digest's range, from the log itself: a digest covers the same after a crash. */
  async #nextPage(after: number): Promise<Pending> {
    const { db, findDelivered } = this.#context
    const { claimedToLogId } = this.#subscription
    const page = await readPending(db, this.#subscription, after, claimedToLogId ?? undefined)
    const events = await withoutDelivered(findDelivered, this.#subscription, page.events)
    // A long stretch is read page by page between the work of others.
    if (page.more) await new Promise(setImmediate)
    return { ...page, events }
  }

  #single(event: LogEvent): Emission {
    return singleEmission(this.#subscription, event, this.#lease.progress.lastEmittedLogId, this.#context.clock.now())
  }

  /** Moves on over what was not for this subscription; the next record or the release keeps it. */
  #pass(scannedTo: number): void {
    const { progress } = this.#lease
    this.#lease.progress = { ...progress, cursorLogId: Math.max(scannedTo, progress.cursorLogId) }
  }
}

const nothing = (after: number): Pending => ({ events: [], scannedTo: after, more: false })

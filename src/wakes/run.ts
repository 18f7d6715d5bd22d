import { sleep } from '../lib/clock.ts'
import type { LogEvent } from '../log/event.ts'
import { Growth } from '../log/growth.ts'
import { identityOf } from '../registry/agents.ts'
import type { Subscription, WakeTarget } from '../registry/subscription.ts'
import type { Transaction } from '../storage/database.ts'
import { DigestBuilder } from './digest.ts'
import { digestEmission, type Emission, singleEmission } from './emission.ts'
import { giveAllBack, giveBackClaim } from './give-back.ts'
import { Lane } from './lane.ts'
import { handBackLease } from './lease-store.ts'
import { comesWithMessage } from './match.ts'
import { type Pending, pageMax, readPending, withoutInHand } from './pending.ts'
import type { Claim } from './recorder.ts'
import { sendReplays } from './replay-run.ts'
import type { RunContext, RunControl } from './run-context.ts'
import { Sender } from './sender.ts'

const outageMs = 1_000
const identitiesMax = 20_000
/** The first page of a run: thousands of runs may hold one each while they wait for a receiver. Later pages grow. */
const pageMin = 16

/**
 * Works one claimed subscription until nothing is left for it: reads on from the cursor, sends in log order, records,
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
    return (await run.sendAll()) ? await run.release() : undefined
  } catch (error) {
    context.log.error({ err: error, subscriptionId: subscription.id }, 'wake.run_failed')
    return run.recover()
  }
}

class Run {
  readonly #context: RunContext
  readonly #subscription: Subscription
  readonly #claim: Claim
  readonly #control: RunControl

  constructor(context: RunContext, subscription: Subscription, owner: string, control: RunControl) {
    this.#context = context
    this.#subscription = subscription
    this.#control = control
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
    const identity = await this.#identity()
    const sender = new Sender(this.#context, this.#subscription, identity, this.#claim, this.#control)
    const fresh = this.#control.event !== undefined
    return (
      (fresh || (await sendReplays(this.#context, this.#subscription, identity, this.#claim, sender))) &&
      (await this.#inForm(sender, identity))
    )
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
    const { kind, coalesceMs, resumeWithDigest, target } = this.#subscription
    if (kind === 'push') return this.#sendEach(sender)
    if (resumeWithDigest) return this.#sendDigest(sender, identity)
    if ((target as WakeTarget).coalesceMode === 'leading') return this.#sendLeading(sender, identity)
    return coalesceMs > 0 ? this.#sendDigest(sender, identity) : this.#sendEach(sender)
  }

  /** Records what was sent last and gives the lease back, with the time at which the next matching event's window ends. */
  async release(): Promise<number | undefined> {
    const { db, recorder } = this.#context
    const { projectId } = this.#subscription
    const recording = await recorder.take(this.#claim)
    let due: number | undefined
    const giveBack = async (tx: Transaction): Promise<void> => {
      due = await giveBackClaim(tx, this.#subscription, this.#claim)
    }
    try {
      await db.transaction(async (tx) => {
        await recording.write(tx)
        tx.atEnd(giveAllBack, { projectId, giveBack })
      })
      return due
    } catch (error) {
      recording.putBack()
      throw error
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
        await recorder.settled(this.#claim)
        const now = clock.now()
        const held = await db.transaction((tx) => handBackLease(tx, this.#subscription.id, this.#claim.owner, now))
        return held ? now : undefined
      } catch {
        // Not yet. The failure that brought us here is logged.
      }
    }
  }

  /** Sends event by event, in order: each behind the last, or up to `maxInFlight` of them at the same time. */
  async #sendEach(sender: Sender): Promise<boolean> {
    const width = (this.#subscription.target as WakeTarget).maxInFlight ?? 1
    const lane = new Lane(sender)
    const growth = width > 1 ? new Growth(this.#context.tail, this.#subscription.projectId) : undefined
    let { cursorLogId: after, lastEmittedLogId: previous } = this.#claim.progress
    let pageSize = pageMin
    let first = this.#knownPage()
    try {
      for (;;) {
        const page = first ?? (await this.#nextPage(after, undefined, pageSize))
        first = undefined
        for (const event of page.events) {
          lane.start(singleEmission(this.#subscription, event, previous, this.#context.clock.now()), event.logId)
          previous = event.logId
          if (lane.length >= width && !(await lane.finishOldest())) return false
        }
        after = page.scannedTo
        pageSize = Math.min(pageMax, pageSize * 4)
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

  async #sendLeading(sender: Sender, identity: string): Promise<boolean> {
    const page = await this.#nextPage(this.#claim.progress.cursorLogId, this.#rangeEnd)
    const first = page.events[0]
    if (first && first.createdAt >= this.#claim.progress.windowUntil)
      return sender.send(this.#single(first), first.logId)
    return this.#sendDigest(sender, identity)
  }

  async #sendDigest(sender: Sender, identity: string): Promise<boolean> {
    const digest = new DigestBuilder()
    let after = this.#claim.progress.cursorLogId
    for (let more = true; more; ) {
      const page = await this.#nextPage(after, this.#rangeEnd)
      for (const event of page.events) digest.add(event)
      after = page.scannedTo
      more = page.more
    }
    if (digest.count === 0) {
      this.#pass(after)
      return true
    }
    const { lastEmittedLogId } = this.#claim.progress
    const now = this.#context.clock.now()
    return sender.send(digestEmission(this.#subscription, identity, digest, lastEmittedLogId, now), after)
  }

  async #nextPage(after: number, upTo?: number, pageSize?: number): Promise<Pending> {
    const page = await readPending(this.#context.db, this.#subscription, after, upTo, pageSize)
    const events = await withoutInHand(this.#context, this.#subscription, page.events)
    // A long stretch is read page by page between the work of others.
    if (page.more) await new Promise(setImmediate)
    return { ...page, events }
  }

  /** The event that an idle subscription was claimed for needs no reading, unless others decide whether it is told here. */
  #knownPage(): Pending | undefined {
    const { event } = this.#control
    if (!event || comesWithMessage(event)) return undefined
    return { events: [event], scannedTo: event.logId, more: true }
  }

  get #rangeEnd(): number {
    return this.#subscription.claimedToLogId ?? Number.MAX_SAFE_INTEGER
  }

  #single(event: LogEvent): Emission {
    return singleEmission(this.#subscription, event, this.#claim.progress.lastEmittedLogId, this.#context.clock.now())
  }

  /** Moves on over what was not for this subscription; the next record or the release keeps it. */
  #pass(scannedTo: number): void {
    const { progress } = this.#claim
    this.#claim.progress = { ...progress, cursorLogId: Math.max(scannedTo, progress.cursorLogId) }
  }
}

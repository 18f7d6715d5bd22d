import { type Clock, sleep } from '../lib/clock.ts'
import type { Logger } from '../logger/logger.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { deadMs, listGateways, removeDeadGateway, removeGateway, saveHeartbeat } from './gateway-store.ts'

/** A clock that differs more from that of the store is wrong: what it calls expired or silent may be neither. */
const offsetMaxMs = 5_000

/** Compares the gateway's clock with that of the store. A change is logged once. */
class ClockCheck {
  readonly #log: Logger
  #isRight = true

  constructor(log: Logger) {
    this.#log = log
  }

  get isRight(): boolean {
    return this.#isRight
  }

  /** @param offsetMs the time of this gateway minus that of the store, in ms */
  note(offsetMs: number): void {
    const isRight = Math.abs(offsetMs) <= offsetMaxMs
    if (isRight === this.#isRight) return
    this.#isRight = isRight
    if (isRight) this.#log.info({ offsetMs }, 'gateway.clock_right')
    else this.#log.error({ offsetMs }, 'gateway.clock_wrong')
  }
}

const heartbeatMs = 3_000
/**
 * After this long without a heartbeat a gateway checks its leases before it sends: others may have taken them over. Clocks may differ by
 * the difference to `deadMs`.
 */
const leasesSafeMs = 9_000

interface MembershipContext {
  readonly db: Database
  readonly clock: Clock
  /** Instead of the store's own clock. */
  readonly storeClock?: Clock | undefined
  readonly log: Logger
  /** This gateway's id. */
  readonly id: string
  /** Releases the leases of a gateway that is gone. Returns how many subscriptions fell due. */
  readonly requeueLeasesOf: (tx: Transaction, gatewayId: string) => Promise<number>
  /** Called when leases of another gateway were released. */
  due(): void
}

/** The gateways of one store. Each writes a heartbeat; the first one to notice a dead gateway releases its leases. */
export class Membership implements AsyncDisposable {
  readonly #context: MembershipContext
  readonly #stopping = new AbortController()
  readonly #clockCheck: ClockCheck
  #loop: Promise<void> | undefined
  #beating: Promise<void> | undefined
  #seenAt: number
  #count = 1

  constructor(context: MembershipContext) {
    this.#context = context
    this.#clockCheck = new ClockCheck(context.log)
    this.#seenAt = context.clock.now()
  }

  /** Writes the first heartbeat, then one every three seconds. Rejects when the store does not answer. */
  async start(): Promise<void> {
    await this.#beat()
    this.#loop ??= this.#run()
  }

  /** True when no other gateway can have taken over this gateway's leases. */
  readonly areLeasesSafe = (): boolean => Math.abs(this.#context.clock.now() - this.#seenAt) < leasesSafeMs

  /** True when the clock agreed with that of the store at the last heartbeat. */
  readonly isClockRight = (): boolean => this.#clockCheck.isRight

  /**
   * True when this gateway may end what is others': its clock agrees with that of the store, and was not set since. If the last heartbeat
   * is too old to say so, it writes another.
   */
  readonly isSureOfTime = async (): Promise<boolean> => {
    if (!this.areLeasesSafe() && !this.#stopping.signal.aborted) await this.#beat()
    return this.isClockRight() && this.areLeasesSafe()
  }

  /** True when there were other gateways at the last heartbeat. */
  readonly hasPeers = (): boolean => this.#count > 1

  /** Stops the heartbeat and releases this gateway's leases. */
  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort()
    await this.#loop
    await this.#beating?.catch(() => {})
    const { db, id, log, requeueLeasesOf } = this.#context
    const leave = async (tx: Transaction): Promise<void> => {
      await removeGateway(tx, id)
      await requeueLeasesOf(tx, id)
    }
    await db.transaction(leave).catch((error: unknown) => log.warn({ err: error }, 'gateway.not_removed'))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Writes a heartbeat, or waits for the one that is being written. */
  #beat(): Promise<void> {
    this.#beating ??= this.#write().finally(() => {
      this.#beating = undefined
    })
    return this.#beating
  }

  async #write(): Promise<void> {
    const { db, clock, storeClock, id } = this.#context
    // A machine that slept may be that of all gateways: the others have not missed their heartbeats, and write the next one first.
    const wasAway = !this.areLeasesSafe()
    const now = clock.now()
    const beat = await saveHeartbeat(db, id, clock, storeClock)
    this.#seenAt = now
    this.#clockCheck.note(beat.offsetMs)
    const since = beat.seenAt - deadMs
    const gateways = await listGateways(db)
    const dead = gateways.filter(({ seenAt }) => seenAt < since)
    this.#count = gateways.length - dead.length
    if (wasAway || !this.isClockRight()) return
    for (const gateway of dead) await this.#takeOver(gateway.id, since)
  }

  /** A gateway that was only slow finds its leases gone when it records a delivery, and sends no more. */
  async #takeOver(gateway: string, since: number): Promise<void> {
    const { db, log, due, requeueLeasesOf } = this.#context
    const released = await db.transaction(async (tx) =>
      (await removeDeadGateway(tx, gateway, since)) ? requeueLeasesOf(tx, gateway) : 0,
    )
    log.warn({ gateway, subscriptions: released }, 'gateway.taken_over')
    if (released > 0) due()
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#context
    const { signal } = this.#stopping
    for (;;) {
      await sleep(clock, heartbeatMs, signal)
      if (signal.aborted) return
      try {
        await this.#beat()
      } catch (error) {
        log.warn({ err: error }, 'gateway.heartbeat_failed')
      }
    }
  }
}

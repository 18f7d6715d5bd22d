import { type Clock, sleep } from '../lib/clock.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../storage/database.ts'
import { listGateways, removeGateway, saveHeartbeat, takeOver } from './gateway-store.ts'

const beatMs = 3_000
/** Behind this a gateway asks the store before it sends: it may have been held up, and its work taken over. */
const leasesSafeMs = 9_000
/** Behind this the others take over. Clocks may differ by as much as lies between the two. */
const deadMs = 20_000

interface MembershipContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
  /** This gateway's id: what its claims' names begin with. */
  readonly id: string
  /** Hears that something fell due. */
  due(): void
}

/** The gateways of one store: each says that it is alive, and whoever notices first takes over from one that does not. */
export class Membership implements AsyncDisposable {
  readonly #context: MembershipContext
  readonly #stopping = new AbortController()
  #loop: Promise<void> | undefined
  #seenAt: number
  #count = 1

  constructor(context: MembershipContext) {
    this.#context = context
    this.#seenAt = context.clock.now()
  }

  /** Says for the first time that this gateway is alive, and goes on saying it. Rejects when the store does not answer. */
  async start(): Promise<void> {
    await this.#beat()
    this.#loop ??= this.#run()
  }

  /** Whether nobody can have taken over from this gateway meanwhile. */
  readonly areLeasesSafe = (): boolean => Math.abs(this.#context.clock.now() - this.#seenAt) < leasesSafeMs

  /** Whether there are others to share the work with, as far as is known. */
  readonly hasPeers = (): boolean => this.#count > 1

  async stop(): Promise<void> {
    if (this.#stopping.signal.aborted) return
    this.#stopping.abort()
    await this.#loop
    const { db, id, log } = this.#context
    await removeGateway(db, id).catch((error: unknown) => log.warn({ err: error }, 'gateway.left_unsaid'))
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Says that this gateway is alive, then takes over from those that did not. */
  async #beat(): Promise<void> {
    const { db, clock, log, id, due } = this.#context
    const now = clock.now()
    await saveHeartbeat(db, id)
    this.#seenAt = now
    const gateways = await listGateways(db)
    const dead = gateways.filter(({ seenAt }) => seenAt < now - deadMs)
    this.#count = gateways.length - dead.length
    for (const { id: gateway } of dead) {
      const freed = await takeOver(db, gateway, now - deadMs)
      log.warn({ gateway, subscriptions: freed }, 'gateway.taken_over')
      if (freed > 0) due()
    }
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#context
    const { signal } = this.#stopping
    for (;;) {
      await sleep(clock, beatMs, signal)
      if (signal.aborted) return
      try {
        await this.#beat()
      } catch (error) {
        log.warn({ err: error }, 'gateway.unseen')
      }
    }
  }
}

import { Cleanup } from '../lib/cleanup.ts'
import type { Clock } from '../lib/clock.ts'
import { newUuid } from '../lib/ids.ts'
import type { Logger } from '../logger/logger.ts'
import type { Database, Transaction } from '../storage/database.ts'
import type { Bus } from './bus/bus.ts'
import { openBus } from './bus/open-bus.ts'
import { Membership } from './membership.ts'
import { type ClusterHandlers, ClusterMessages } from './messages.ts'
import { SweepLeases } from './sweep-leases.ts'

/** Handlers of several parts of the gateway, called in the order in which they were added. */
class Handlers implements ClusterHandlers {
  readonly #all: Partial<ClusterHandlers>[] = []

  add(handlers: Partial<ClusterHandlers>): void {
    this.#all.push(handlers)
  }

  grown(keys: readonly string[]): void {
    for (const one of this.#all) one.grown?.(keys)
  }

  changed(subscriptionIds: readonly string[]): void {
    for (const one of this.#all) one.changed?.(subscriptionIds)
  }

  revoked(ids: readonly string[]): void {
    for (const one of this.#all) one.revoked?.(ids)
  }

  due(): void {
    for (const one of this.#all) one.due?.()
  }

  missed(): void {
    for (const one of this.#all) one.missed?.()
  }
}

/** The gateways of one store, as one of them sees the others. */
export interface Cluster extends AsyncDisposable {
  /** This gateway's id. The owner names of its leases begin with it. */
  readonly id: string
  /** True when no other gateway can have taken over this gateway's leases. */
  areLeasesSafe(): boolean
  /** True when this gateway's clock agrees with that of the store. If not, it ends nothing that is others'. */
  isClockRight(): boolean
  /** True when other gateways share the work. */
  hasPeers(): boolean
  /** True when this gateway is the one that does a sweep now. */
  holdsSweepLease(name: string): Promise<boolean>
  /** Calls these handlers for what the other gateways report. Call it before `start`. */
  on(handlers: Partial<ClusterHandlers>): void
  /** Notifies the peers that logs have grown: ids of projects and of tasks. */
  notifyGrown(keys: readonly string[]): void
  /** Notifies the peers that a subscription has changed. */
  notifyChanged(subscriptionId: string): void
  /** Notifies the peers that keys or agents were revoked. */
  notifyRevoked(ids: readonly string[]): void
  /** Notifies the peers that a subscription is due: the first one with a free place takes it. */
  notifyDue(): void
  /** Joins the cluster. Rejects when the store does not answer. */
  start(): Promise<void>
}

interface Members {
  readonly db: Database
  readonly clock: Clock
  /** Instead of the clock of a PostgreSQL store. */
  readonly storeClock: Clock | undefined
  readonly log: Logger
  /** Requeues the leases of a gateway that is gone. Returns how many subscriptions fell due. */
  readonly requeueLeasesOf: (tx: Transaction, gatewayId: string) => Promise<number>
}

interface ClusterOptions extends Members {
  /** The PostgreSQL store that the gateways share; undefined: an embedded store, which has one gateway. */
  readonly databaseUrl: string | undefined
  /** The Redis server that carries messages between the gateways; undefined: PostgreSQL carries them. */
  readonly busUrl: string | undefined
  /** The name that all gateways of a store have in common and no other store has: hexadecimal. */
  readonly storeName: string
}

/** Opens this gateway's view of the cluster. Its bus is connected by `start`. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  const { clock, log, databaseUrl, busUrl, storeName } = options
  if (databaseUrl === undefined) return singleGateway()
  return clusterOver(await openBus({ busUrl, databaseUrl }, `rouse_${storeName.slice(0, 32)}`, clock, log), options)
}

/** One of several gateways, which notify each other over a bus. */
export function clusterOver(bus: Bus, { db, clock, storeClock, log, requeueLeasesOf }: Members): Cluster {
  const id = newUuid()
  const handlers = new Handlers()
  const messages = new ClusterMessages(bus, id, handlers, clock, log)
  const membership = new Membership({ db, clock, storeClock, log, id, requeueLeasesOf, due: () => handlers.due() })
  const sweepLeases = new SweepLeases(db, id, clock, membership.isSureOfTime)
  const open = new Cleanup()
  return {
    id,
    areLeasesSafe: membership.areLeasesSafe,
    isClockRight: membership.isClockRight,
    hasPeers: membership.hasPeers,
    holdsSweepLease: sweepLeases.holds,
    on: (added) => handlers.add(added),
    notifyGrown: (keys) => messages.grown(keys),
    notifyChanged: (subscriptionId) => messages.changed(subscriptionId),
    notifyRevoked: (ids) => messages.revoked(ids),
    notifyDue: () => messages.due(),
    async start() {
      await open.use(membership).start()
      open.use(messages).start()
    },
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  }
}

/** A cluster of one: an embedded store has one gateway. */
export function singleGateway(): Cluster {
  const handlers = new Handlers()
  return {
    id: newUuid(),
    areLeasesSafe: () => true,
    isClockRight: () => true,
    hasPeers: () => false,
    holdsSweepLease: async () => true,
    on: (added) => handlers.add(added),
    notifyGrown() {},
    notifyChanged() {},
    notifyRevoked() {},
    notifyDue() {},
    async start() {},
    async [Symbol.asyncDispose]() {},
  }
}

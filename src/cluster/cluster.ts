import { Cleanup } from '../lib/cleanup.ts'
import type { Clock } from '../lib/clock.ts'
import { newUuid } from '../lib/ids.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../storage/database.ts'
import { openBus } from './bus/open-bus.ts'
import { Membership } from './membership.ts'
import { type ClusterHandlers, ClusterMessages } from './messages.ts'
import { SweepLeases } from './sweep-leases.ts'

/** What a gateway has to do with the others that share its store. */
export interface Cluster extends AsyncDisposable {
  /** This gateway's id, which its claims begin with. */
  readonly id: string
  /** Whether none of them can have taken over from this one. */
  areLeasesSafe(): boolean
  /** Whether there are any. */
  hasPeers(): boolean
  /** Whether it is this one's turn at a sweep. */
  holdsSweepLease(name: string): Promise<boolean>
  /** Tells them that logs have grown: projects' ids and tasks' ids. */
  notifyGrown(keys: readonly string[]): void
  /** Tells them that a subscription was changed. */
  notifyChanged(subscriptionId: string): void
  /** Ends what is open under keys and agents that were taken away, here and with all of them. */
  notifyRevoked(ids: readonly string[]): void
  /** Tells them that something is due, for whoever has time. */
  notifyDue(): void
  start(): Promise<void>
}

/** `storeName` is what all gateways of a store have in common, and no other store has: hexadecimal. */
export async function openCluster(
  config: { readonly databaseUrl: string | undefined; readonly busUrl: string | undefined },
  world: { readonly db: Database; readonly clock: Clock; readonly log: Logger; readonly storeName: string },
  handlers: ClusterHandlers,
): Promise<Cluster> {
  const { db, clock, log, storeName } = world
  const id = newUuid()
  if (config.databaseUrl === undefined) return singleGateway(id, handlers)
  const channel = `rouse_${storeName.slice(0, 32)}`
  const bus = await openBus({ busUrl: config.busUrl, databaseUrl: config.databaseUrl }, channel, clock, log)
  const nudges = new ClusterMessages(bus, id, handlers, clock, log)
  const gateways = new Membership({ db, clock, log, id, due: () => handlers.due() })
  const sweepLeases = new SweepLeases(db, id, clock)
  const open = new Cleanup()
  return {
    id,
    areLeasesSafe: gateways.areLeasesSafe,
    hasPeers: gateways.hasPeers,
    holdsSweepLease: sweepLeases.holds,
    notifyGrown: (keys) => nudges.grown(keys),
    notifyChanged: (subscriptionId) => nudges.changed(subscriptionId),
    notifyRevoked(ids) {
      handlers.revoked(ids)
      nudges.revoked(ids)
    },
    notifyDue: () => nudges.due(),
    async start() {
      await open.use(gateways).start()
      open.use(nudges).start()
    },
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  }
}

/** The embedded store has one gateway. */
function singleGateway(id: string, hearing: ClusterHandlers): Cluster {
  return {
    id,
    areLeasesSafe: () => true,
    hasPeers: () => false,
    holdsSweepLease: async () => true,
    notifyGrown() {},
    notifyChanged() {},
    notifyRevoked: hearing.revoked,
    notifyDue() {},
    async start() {},
    async [Symbol.asyncDispose]() {},
  }
}

import { Cleanup } from '../lib/cleanup.ts'
import type { Clock } from '../lib/clock.ts'
import { newUuid } from '../lib/ids.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../storage/database.ts'
import { openBus } from './bus/open-bus.ts'
import { Gateways } from './membership.ts'
import { type NudgeHandlers, Nudges } from './messages.ts'
import { Turns } from './sweep-leases.ts'

/** What a gateway has to do with the others that share its store. */
export interface Neighbours extends AsyncDisposable {
  /** This gateway's id, which its claims begin with. */
  readonly id: string
  /** Whether none of them can have taken over from this one. */
  isSure(): boolean
  /** Whether there are any. */
  hasOthers(): boolean
  /** Whether it is this one's turn at a sweep. */
  isTurn(name: string): Promise<boolean>
  /** Tells them that logs have grown: projects' ids and tasks' ids. */
  grew(keys: readonly string[]): void
  /** Tells them that a subscription was changed. */
  changed(subscriptionId: string): void
  /** Ends what is open under keys and agents that were taken away, here and with all of them. */
  revoked(ids: readonly string[]): void
  /** Tells them that something is due, for whoever has time. */
  passedOn(): void
  start(): Promise<void>
}

/** `storeName` is what all gateways of a store have in common, and no other store has: hexadecimal. */
export async function openNeighbours(
  config: { readonly databaseUrl: string | undefined; readonly busUrl: string | undefined },
  world: { readonly db: Database; readonly clock: Clock; readonly log: Logger; readonly storeName: string },
  hearing: NudgeHandlers,
): Promise<Neighbours> {
  const { db, clock, log, storeName } = world
  const id = newUuid()
  if (config.databaseUrl === undefined) return alone(id, hearing)
  const channel = `rouse_${storeName.slice(0, 32)}`
  const bus = await openBus({ busUrl: config.busUrl, databaseUrl: config.databaseUrl }, channel, clock, log)
  const nudges = new Nudges(bus, id, hearing, clock, log)
  const gateways = new Gateways({ db, clock, log, id, due: () => hearing.due() })
  const turns = new Turns(db, id, clock)
  const open = new Cleanup()
  return {
    id,
    isSure: gateways.isSure,
    hasOthers: gateways.hasOthers,
    isTurn: turns.isMine,
    grew: (keys) => nudges.grew(keys),
    changed: (subscriptionId) => nudges.changed(subscriptionId),
    revoked(ids) {
      hearing.revoked(ids)
      nudges.revoked(ids)
    },
    passedOn: () => nudges.fellDue(),
    async start() {
      await open.use(gateways).start()
      open.use(nudges).start()
    },
    [Symbol.asyncDispose]: () => open[Symbol.asyncDispose](),
  }
}

/** The embedded store has one gateway. */
function alone(id: string, hearing: NudgeHandlers): Neighbours {
  return {
    id,
    isSure: () => true,
    hasOthers: () => false,
    isTurn: async () => true,
    grew() {},
    changed() {},
    revoked: hearing.revoked,
    passedOn() {},
    async start() {},
    async [Symbol.asyncDispose]() {},
  }
}

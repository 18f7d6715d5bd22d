import { Admission } from '../../src/admission/admission.ts'
import { unlimitedSlot } from '../../src/admission/slots.ts'
import { Audit } from '../../src/audit/audit.ts'
import type { Bus } from '../../src/cluster/bus/bus.ts'
import { clusterOver, singleGateway } from '../../src/cluster/cluster.ts'
import { envToConfig } from '../../src/config/config.ts'
import type { FrontContext } from '../../src/fronts/front-context.ts'
import { createLocalApi } from '../../src/fronts/mcp/local-api.ts'
import { readTellable } from '../../src/fronts/rest/needs/collect.ts'
import { openDelivery } from '../../src/gateway/delivery.ts'
import { openFeatures } from '../../src/gateway/features.ts'
import { retentionSweep } from '../../src/gateway/retention.ts'
import { openSweepers } from '../../src/gateway/sweepers.ts'
import { authenticate } from '../../src/identity/authenticate.ts'
import { keySweep } from '../../src/identity/end-expired-keys.ts'
import { KeyUse } from '../../src/identity/key-use.ts'
import { OpenCalls } from '../../src/identity/open-calls.ts'
import { Cleanup } from '../../src/lib/cleanup.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { OwnClock } from '../../src/lib/own-clock.ts'
import type { Logger } from '../../src/logger/logger.ts'
import { Metrics } from '../../src/metrics/metrics.ts'
import { needSweep } from '../../src/needs/need-sweep.ts'
import { recoverySweep } from '../../src/recovery/check.ts'
import { operatorOf } from '../../src/registry/callers/caller.ts'
import { removeUnended } from '../../src/registry/idempotency-store.ts'
import { defaultProject, ensureProject } from '../../src/registry/projects/project-store.ts'
import { removedRowsSweep } from '../../src/registry/subscriptions/removed-rows.ts'
import type { OutboundFetch } from '../../src/security/outbound-fetch.ts'
import { SecretBox } from '../../src/security/secret.ts'
import { SessionActivity } from '../../src/sessions/activity.ts'
import { silenceSweep } from '../../src/sessions/end-silent-sessions.ts'
import type { Database } from '../../src/storage/database.ts'
import { clockSweep } from '../../src/storage/waited-instants.ts'
import { lapseSweep } from '../../src/subscriptions/mcp/end.ts'
import { expirySweep } from '../../src/tasks/fail-expired-tasks.ts'
import { missedEdgeSweep } from '../../src/wakes/missed-edges.ts'
import { probeSweep } from '../../src/wakes/probe-degraded.ts'
import { requeueLeasesOf } from '../../src/wakes/store/gateway-leases.ts'
import { requeueAll } from '../../src/wakes/store/lease-store.ts'
import { disconnectStreams } from '../../src/wakes/store/stream-state.ts'
import { trimSweep } from '../../src/wakes/trim-kept.ts'
import type { Chance } from './chance.ts'
import type { Process } from './process.ts'
import type { Realm } from './realm.ts'
import type { Receivers } from './receivers.ts'

export const adminKey = 'admin'
const config = envToConfig({})

/** The world around a gateway. */
interface Around {
  readonly process: Process
  readonly realm: Realm
  readonly receivers: Receivers
  readonly chance: Chance
  readonly log: Logger
  readonly db: Store
  /** Undefined: its store is its own. */
  readonly bus: Bus | undefined
}

/** A store that a process uses. `abandon` closes its files when the process has ended without a stop. */
interface Store extends Database {
  abandon(): void
}

export interface Call {
  readonly method: string
  readonly path: string
  readonly key: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: JsonObject
  readonly idempotencyKey?: string | undefined
}

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: a history reads whatever the wire carries
  readonly body: any
  readonly returnMail?: () => void
}

/** A program beside a harness calls these; they are no acts of it. */
const besideHarness = /^\/v1\/(wake-stream|presence|sessions|recovery|turns|parked|whoami|gate|heartbeat)\b/

/** One process of the gateway: everything between its front and its store, with the real wiring of delivery, features and sweeps. */
export class SimulatedGateway {
  readonly process: Process
  readonly store: Store
  readonly #context: FrontContext
  readonly #resources: Cleanup
  readonly #stopEngine: () => Promise<void>
  readonly #running = new Set<Promise<Answer>>()

  private constructor({ process, db }: Around, context: FrontContext, resources: Cleanup, stop: () => Promise<void>) {
    this.process = process
    this.store = db
    this.#context = context
    this.#resources = resources
    this.#stopEngine = stop
  }

  /** Starts on what the store has. */
  static async start(around: Around): Promise<SimulatedGateway> {
    const { process, realm, receivers, chance, log, db, bus } = around
    const { clock } = process
    const steady = (): number => realm.now
    const undo = new Cleanup()
    undo.use(db)
    await ensureProject(db, defaultProject)
    const ownClock = new OwnClock(clock, steady)
    undo.defer(() => ownClock[Symbol.dispose]())
    const { silenceUntil } = ownClock
    const secrets = new SecretBox([Buffer.alloc(32, 7).toString('base64')])
    const storeClock = { ...clock, now: () => realm.wall }
    const cluster = undo.use(bus ? clusterOver(bus, { db, clock, storeClock, log, requeueLeasesOf }) : singleGateway())
    if (!bus) {
      await removeUnended(db)
      await requeueAll(db)
      await db.transaction(disconnectStreams)
    }
    const metrics = new Metrics()
    const random = (): number => chance.fraction()
    const outbound = receivers.outboundOf(process) as OutboundFetch
    const delivery = openDelivery(
      {
        ...{ db, clock, log, random, cluster, outbound, secrets, metrics, timeoutMs: 10_000 },
        signToken: async () => 'token',
        tracing: undefined,
        mcpEventCodes: config.mcpEvents.codes,
      },
      undo,
    )
    const { core, engine, changed } = delivery
    const checkUrl = (url: string): URL => new URL(url)
    const features = openFeatures(config, { ...delivery, secrets, checkUrl, silenceUntil }, undo)
    const admission = new Admission({ clock, bodyMax: 1_000_000, overload: { isOver: () => false } })
    const activity = undo.use(new SessionActivity(core))
    const keyUse = undo.use(new KeyUse(core))
    const openCalls = new OpenCalls(clock)
    undo.defer(() => openCalls[Symbol.dispose]())
    const revoked = (ids: readonly string[]): void => {
      openCalls.end(ids)
      cluster.notifyRevoked(ids)
    }
    const { isClockRight, holdsSweepLease: holdsLease } = cluster
    const audit = undo.use(new Audit({ db, clock, log }))
    const context = {
      ...features.tasks,
      ...features,
      audit,
      admission,
      openCalls,
      metrics,
      revoked,
      tracing: undefined,
      mcpEvents: config.mcpEvents,
      wakeStreams: delivery.wakeStreams,
      adminKey: { matches: (key: string) => key === adminKey, matchesAnew: async () => false },
      publicUrl: 'https://rouse.example',
      blockingTimeoutMs: 30_000,
      answerMax: 8_000_000,
      stopping: new AbortController().signal,
      saw(caller: Parameters<KeyUse['saw']>[0], isAct: boolean) {
        activity.saw(caller as never, isAct)
        keyUse.saw(caller)
      },
    } as unknown as FrontContext
    const own = [clockSweep({ db, clock, log, isClockRight }), trimSweep({ ...core, kept: engine.kept })]
    const shared = [
      expirySweep(features.tasks),
      silenceSweep(features.sessions),
      keySweep({ ...core, revoked, sessions: features.sessions }),
      missedEdgeSweep({ ...core, changed }),
      probeSweep({ ...core, channels: delivery.channels, random, changed }),
      recoverySweep({ ...features.recovery, steady, isClockRight, isOverloaded: () => false }),
      needSweep({
        ...core,
        push: undefined,
        readNeeds: (id) => readTellable({ db, now: clock.now(), caller: operatorOf(id) }),
      }),
      lapseSweep({ ...core, changed, silenceUntil }),
      delivery.controlMessages,
      removedRowsSweep(core),
      retentionSweep(core, config.retention),
    ]
    const startSweepers = openSweepers({ own, shared }, { clock, log, holdsLease }, undo)
    await cluster.start()
    engine.start()
    startSweepers()
    return new SimulatedGateway(around, context, undo, () => engine.stop())
  }

  /** Answers a call as the REST front does. It may never end when the process is gone before the answer. */
  async call(call: Call): Promise<Answer> {
    await this.process.running()
    const answer = this.#answer(call)
    this.#running.add(answer)
    return answer.finally(() => this.#running.delete(answer))
  }

  async #answer({ method, path, key, query, body, idempotencyKey }: Call): Promise<Answer> {
    const context = this.#context
    try {
      const caller = await authenticate(context, key)
      context.saw(caller, !besideHarness.test(path))
      const headers = {
        authorization: `Bearer ${key}`,
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      }
      const call = createLocalApi(context)({ caller, address: '127.0.0.1', slot: unlimitedSlot })
      return await call({ method, path, query, body, headers } as never)
    } catch (error) {
      const { status = 500, code = 'internal' } = error as { status?: number; code?: string }
      return { status, body: { code, detail: String(error) } }
    }
  }

  /** Stops as a service does: what is in flight finishes. */
  async stop(): Promise<void> {
    await Promise.all([Promise.all(this.#running), this.#stopEngine()])
    await this.#resources[Symbol.asyncDispose]()
    this.process.isGone = true
  }

  /** The process is gone, and nothing of it goes on. */
  kill(): void {
    this.process.isGone = true
    this.store.abandon()
  }
}

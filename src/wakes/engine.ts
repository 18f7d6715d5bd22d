import type { Cluster } from '../cluster/cluster.ts'
import type { AppendEvents } from '../log/append.ts'
import type { Base } from '../log/core.ts'
import type { LogNotifier } from '../log/log-notifier.ts'
import type { Tracing } from '../tracing/tracing.ts'
import type { Channels } from './channel.ts'
import { createEventWriter } from './commit/event-writer.ts'
import type { FindDelivered } from './read/pending.ts'
import type { FindWaiting } from './read/waiting.ts'
import { Dispatcher } from './run/dispatcher.ts'
import { type OnDelivered, Recorder } from './run/recorder.ts'
import { KeptCounts } from './store/kept-counts.ts'

interface EngineOptions extends Base {
  readonly notifier: LogNotifier
  readonly cluster: Cluster
  /** The ways out of this gateway, by harness target. */
  readonly channels: Channels
  /** Called in the transaction that records acknowledged wakes. */
  readonly onDelivered?: OnDelivered
  /** Finds mail that its recipient already has, which no longer wakes. */
  readonly findDelivered?: FindDelivered
  /** Finds what waits for an agent. */
  readonly findWaiting?: FindWaiting
  /** Undefined: no spans are written. */
  readonly tracing?: Tracing | undefined
}

/** The delivery engine: writes events to the log, and sends each to the subscriptions that it wakes. */
export interface Engine extends AsyncDisposable {
  /** The only way into the log. Works before `start`: events then wait in the store. */
  readonly append: AppendEvents
  /** Starts to lease due subscriptions and to send. */
  start(): void
  /** Stops new runs, lets requests in flight finish and requeues every lease. */
  stop(): Promise<void>
  /** Looks for due subscriptions now, or at `dueAt`. */
  notifyDue(dueAt?: number): void
  /** Ends the run of a subscription that was changed or removed, here and on the other gateways, and looks for what is due. */
  changed(subscriptionId: string): void
  /** True when it leases and sends. */
  readonly isRunning: boolean
  /** True when the store lets it lease what is due. */
  readonly isLeasing: boolean
  /** How many held events and deliveries subscriptions got here. */
  readonly kept: KeptCounts
  /** How many subscriptions it sends for now. */
  readonly runCount: number
}

/** Builds the engine of one gateway. Disposing it is the same as `stop`. */
export function createEngine(options: EngineOptions): Engine {
  const { db, clock, log, notifier, cluster, channels, onDelivered, findDelivered, findWaiting, tracing } = options
  const kept = new KeptCounts()
  const writer = createEventWriter(notifier, kept)
  const { append } = writer
  const { areLeasesSafe, hasPeers } = cluster
  const recorder = new Recorder(db, writer, onDelivered, kept)
  const identities = new Map<string, string>()
  const run = {
    db,
    clock,
    log,
    append,
    channels,
    notifier,
    recorder,
    findDelivered,
    findWaiting,
    tracing,
    identities,
    areLeasesSafe,
    hasPeers,
  }
  const dispatcher = new Dispatcher(run, cluster.id)
  const notifyDue = (dueAt?: number): void => dispatcher.notifyDue(dueAt)
  writer.connect({
    notifyDue,
    offer: (agentId) => dispatcher.offer(agentId),
    begin: (lease) => dispatcher.begin(lease),
    hasPeers,
    notifyYielded() {
      cluster.notifyDue()
      dispatcher.notifyYielded()
    },
  })
  const interrupt = (subscriptionIds: readonly string[]): void => {
    for (const id of subscriptionIds) dispatcher.interrupt(id)
    notifyDue()
  }
  cluster.on({ changed: interrupt, due: notifyDue, missed: notifyDue })
  return {
    append,
    kept,
    start: () => dispatcher.start(),
    stop: () => dispatcher.stop(),
    notifyDue,
    changed(subscriptionId) {
      interrupt([subscriptionId])
      cluster.notifyChanged(subscriptionId)
    },
    get isRunning() {
      return dispatcher.isRunning
    },
    get isLeasing() {
      return dispatcher.isLeasing
    },
    get runCount() {
      return dispatcher.runCount
    },
    [Symbol.asyncDispose]: () => dispatcher.stop(),
  }
}

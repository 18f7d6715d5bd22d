import type { Core } from '../../log/core.ts'
import type { LogEvent } from '../../log/event.ts'
import type { LogNotifier } from '../../log/log-notifier.ts'
import type { RecoverySettings } from '../../registry/recovery/gate.ts'
import { readGates } from '../../registry/recovery/gate-store.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Reader } from '../../storage/database.ts'
import type { Tracing } from '../../tracing/tracing.ts'
import { mayStart } from '../../turns/may-start.ts'
import { partiesOf, withheldTurn } from '../../turns/turn.ts'
import { findReachedCap, insertWithheldTurn } from '../../turns/turn-store.ts'
import type { Channels } from '../channel.ts'
import type { Emission } from '../content/emission.ts'
import type { FindDelivered } from '../read/pending.ts'
import type { FindWaiting } from '../read/waiting.ts'
import type { Lease } from '../store/lease.ts'
import { resumeWithDigest } from '../store/lease-progress.ts'
import { leaseMs, renewLease, requeueLease } from '../store/lease-store.ts'
import type { Recorder } from './recorder.ts'

/** The parts that all runs of a gateway share. */
export interface RunContext extends Core {
  readonly channels: Channels
  readonly notifier: LogNotifier
  readonly recorder: Recorder
  /** Mail that it finds has already reached its recipient: no wake is sent for it. */
  readonly findDelivered?: FindDelivered
  /** Finds the unread mail and the open tasks of an agent: what waits for it. */
  readonly findWaiting?: FindWaiting
  /** Undefined: no spans are written. */
  readonly tracing?: Tracing | undefined
  /** Handles by agent id: a handle never changes. */
  readonly identities: Map<string, string>
  /** False when another gateway may have taken over from this one: then a run renews its lease before each send. */
  readonly areLeasesSafe: () => boolean
  /** True when other gateways share the work. */
  readonly hasPeers: () => boolean
}

/** The controls that the dispatcher gives to a run. */
export interface RunControl {
  /** The event that an idle subscription was leased for: nothing older waits, and it was not sent yet. */
  readonly event?: LogEvent | undefined
  /** Aborted when the gateway stops or the subscription changes: waits end at once, and the run ends soon. */
  readonly signal: AbortSignal
  /** True when the run only waits. A waiting run costs nothing and takes no slot. */
  setWaiting(waiting: boolean): void
}

/** The work under one lease: made once, and passed to everything that takes part in it. */
export interface Run extends RunControl {
  readonly context: RunContext
  readonly subscription: Subscription
  /** The agent that is woken: `@donna`. */
  readonly identity: string
  readonly lease: Lease
  /** The settings of its agent, where they have a cap of turns. */
  readonly capped: RecoverySettings | undefined
}

/** Renews the lease of a run. Returns false when the run stops, or the lease was lost. */
export async function renew({ context, lease, signal }: Run): Promise<boolean> {
  if (signal.aborted) return false
  const isOurs = await context.db.transaction((tx) => renewLease(tx, lease, tx.now + leaseMs))
  if (!isOurs) lease.lose()
  return isOurs
}

/**
 * Asks for the turn that a wake begins. Returns false when it may not begin now: the run has ended, and what waits goes as one digest once
 * it may. A program asks for its own turns; who reads notifications begins none. Source: D53.
 */
export async function mayWake(run: Run, { eventId, fromLogId, logId, event }: Emission): Promise<boolean> {
  const { context, subscription, lease, capped } = run
  if (!capped) return true
  const { id: subscriptionId, projectId, agentId } = subscription
  const now = context.clock.now()
  const ask = async (db: Reader, settings: RecoverySettings) => {
    const cap = await findReachedCap(db, agentId, settings, now)
    return { cap, verdict: mayStart('wake', { now, recovery: { parked: null }, cap }) }
  }
  await context.recorder.settled(lease)
  if ((await ask(context.db, capped)).verdict.answer === 'start') return true
  const route = 'a2a-webhook' // caps are read for no other
  const about = { eventId, subscriptionId, fromLogId, toLogId: logId, ...partiesOf(event ? [event] : []) }
  await context.db.transaction(async (tx) => {
    // The caps may have changed since the run has read them: who changes them lets go what is withheld by then.
    const { cap, verdict } = await ask(tx, (await readGates(tx, projectId, agentId)).effective.settings)
    if (verdict.answer !== 'start') await resumeWithDigest(tx, lease)
    if (cap) await insertWithheldTurn(tx, withheldTurn({ projectId, agentId, act: 'wake', route, ...about }, cap, now))
    await requeueLease(tx, lease, verdict.answer === 'start' ? now : (verdict.until ?? now + leaseMs))
  })
  lease.lose()
  return false
}

/** Ends a run before its work is done: the next lease, from `dueAt` on (ms since the epoch), continues it. */
export async function requeue({ context, lease }: Run, dueAt: number): Promise<void> {
  await context.recorder.settled(lease)
  if (!lease.isLost) await context.db.transaction((tx) => requeueLease(tx, lease, dueAt))
  lease.lose()
}

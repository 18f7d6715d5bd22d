import type { LogEvent } from '../../log/event.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Lease } from '../store/lease.ts'
import type { RunContext } from './run-context.ts'

/** What the dispatcher gives to a run. */
export interface RunControl {
  /** The event that an idle subscription was leased for: nothing older waits, and it was not sent yet. */
  readonly event?: LogEvent | undefined
  /** Aborted when the gateway stops or the subscription changes: waits end at once, and the run ends soon. */
  readonly signal: AbortSignal
  /** Says whether the run only waits. A waiting run costs nothing and takes no slot. */
  setWaiting(waiting: boolean): void
}

/** The work under one lease: made once, and passed to everything that takes part in it. */
export interface Run extends RunControl {
  readonly context: RunContext
  readonly subscription: Subscription
  /** The agent that is woken: `@donna`. */
  readonly identity: string
  readonly lease: Lease
}

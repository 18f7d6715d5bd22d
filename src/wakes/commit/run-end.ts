import type { LogEvent } from '../../log/event.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Lease } from '../store/lease.ts'

/** How a run ends, as the transaction that ends it decides. */
export type RunEnd =
  /** There is more to send, under the same lease. `events` come next, where they had to be read; `hasMore`: others follow them. */
  | { readonly end: 'continued'; readonly events: readonly LogEvent[] | undefined; readonly hasMore: boolean }
  /** Nothing is left to send. The subscription falls due again then (ms since the epoch), or with its next event (null). */
  | { readonly end: 'released'; readonly dueAt: number | null }
  /** There is more to send. The subscription is due now, for any gateway. */
  | { readonly end: 'yielded' }
  /** Another lease fenced this one off before. */
  | { readonly end: 'lost' }

/** A run that knows of nothing more to send. */
export interface EndingRun {
  readonly subscription: Subscription
  readonly lease: Lease
}

/** The ends of the runs that one transaction ends: complete when it has committed, and void when it has not. */
export type RunEnds = Map<Lease, RunEnd>

/** A run at the end of its transaction, and where its end is noted. */
export interface DeferredEnd extends EndingRun {
  readonly ends: RunEnds
}

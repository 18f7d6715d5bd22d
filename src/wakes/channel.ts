import type { Caller } from '../registry/callers/caller.ts'
import type { Subscription } from '../registry/subscriptions/subscription.ts'
import type { Emission } from './content/emission.ts'

/** One try at one emission, as an operator reads it. */
export interface Attempt {
  /** ISO 8601 */
  readonly at: string
  /** The receiver's HTTP status; null when there was no answer. */
  readonly status: number | null
  readonly durationMs: number
  /** What went wrong in a word (`timeout`, `refused`, …); null when there was an answer. */
  readonly error: string | null
  /** The first 2 KiB of the answer, when there was one and it was no success. */
  readonly response?: string
  /**
   * The receiver is inside the network, or its name leads there or nowhere: which of these, and what it said, is for the operator
   * alone.
   */
  readonly isWithheld?: boolean
}

/** An attempt as its reader may see it. What is inside the network is for operators of the whole gateway, not of some projects. */
export function attemptFor(reader: Pick<Caller, 'kind' | 'projects'>, attempt: Attempt): Attempt {
  const { isWithheld, ...told } = attempt
  if (!isWithheld || (reader.kind === 'operator' && reader.projects === undefined)) return told
  const { response: _, ...rest } = told
  return rest.error === null ? rest : { ...rest, error: 'unreachable' }
}

/** The longest that a channel may let an emission wait between two tries: the subscription's other events wait behind it. */
export const retryWaitMaxMs = 300_000

export interface DeliveryOrder {
  readonly subscription: Subscription
  /** Whose harness it is: `@donna`. */
  readonly agentIdentity: string
  readonly emission: Emission
  /** What was tried before, in this process or in one that died. */
  readonly attempts: readonly Attempt[]
  readonly signal: AbortSignal
  /** Keeps the attempts made, then waits until the next one is due. False: stop, another takes over from the record. */
  retryAt(attempts: readonly Attempt[], nextAttemptAt: number): Promise<boolean>
  /** Waits for something before a try, without holding up others. False: the lease was lost meanwhile, stop. */
  idle(wait: Promise<unknown>): Promise<boolean>
}

/**
 * `delivered`: a receiver took it. `failed`: the schedule ran out. `rejected`: the receiver says that no retry will help.
 * `stopped`: the gateway is shutting down or another took over; nothing is decided.
 */
export type DeliveryResult = {
  readonly outcome: 'delivered' | 'failed' | 'rejected' | 'stopped'
  readonly reason: string | null
  readonly attempts: readonly Attempt[]
  /** The event is what failed, not the receiver: it does not count towards degraded. */
  readonly isOfEvent?: boolean
}

/** A way to deliver. It sends, retries and reports; what follows from the result is decided by the dispatcher. */
export interface Channel {
  deliver(order: DeliveryOrder): Promise<DeliveryResult>
  /** One try with no retry and nothing recorded: what `wake/test` uses. Throws `rate-limited` when there is no place for it. */
  attempt(order: Pick<DeliveryOrder, 'subscription' | 'agentIdentity' | 'emission' | 'signal'>): Promise<Attempt>
}

/** A channel for each target that this gateway delivers to, and one for A2A push notifications. */
export type Channels = Partial<Record<'a2a-webhook' | 'mcp-notifications' | 'bridge-daemon' | 'push', Channel>>

import type { Payer } from '../lib/fair-places.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { PushSubscription, Subscription, WakeSubscription } from '../registry/subscriptions/subscription.ts'
import type { CallbackFault } from '../words/mcp-events.ts'
import { type DeliverableTarget, isDeliverable } from '../words/targets.ts'
import type { Emission } from './content/emission.ts'
import type { WakeStep } from './rules/wake-history.ts'

/** One HTTP try at one emission, as an operator reads it. */
export interface Attempt {
  /** ISO 8601 */
  readonly at: string
  /** The receiver's HTTP status; null when there was no answer. */
  readonly status: number | null
  readonly durationMs: number
  /** The failure in a word (`timeout`, `refused`, …); null when there was an answer. */
  readonly error: string | null
  /** The same in a sentence, with the code of the failure; of an answer, what was wrong with its body. */
  readonly detail?: string
  /** The first 2 KiB of an answer that was no success. */
  readonly response?: string
  /**
   * The receiver is inside the network, or its name leads there or nowhere. Which of these, and what it answered, only the operator
   * may read.
   */
  readonly isWithheld?: boolean
}

/** Returns an attempt as its reader may see it. What is inside the network is for operators of the whole gateway only. */
export function attemptFor(reader: Pick<Caller, 'kind' | 'projects'>, attempt: Attempt): Attempt {
  const { isWithheld, ...visible } = attempt
  if (!isWithheld || (reader.kind === 'operator' && reader.projects === undefined)) return visible
  const { response: _, ...answered } = visible
  if (answered.error === null) return answered
  const { detail: __, ...unreachable } = answered
  return { ...unreachable, error: 'unreachable' }
}

/** An attempt at a test wake. */
export interface TestAttempt extends Attempt {
  /** The strongest step that the reader of a stream has reported; null: none. Absent: the channel has no reader that reports. */
  readonly reported?: WakeStep | null
  /** How long the gateway waits for that at most, in seconds. */
  readonly waitsSeconds?: number
}

/** The longest wait between two attempts at an emission, which the subscription's other events share. */
export const retryWaitMaxMs = 300_000

/** One emission to deliver. */
export interface DeliveryOrder<To extends Subscription = Subscription> {
  readonly subscription: To
  /** The agent whose harness is woken: `@donna`. */
  readonly agentIdentity: string
  readonly emission: Emission
  /** Earlier attempts, of this process or of one that died. */
  readonly attempts: readonly Attempt[]
  readonly signal: AbortSignal
  /** Records the attempts, then waits until the next one is due. False: stop, another run goes on from the record. */
  retryAt(attempts: readonly Attempt[], nextAttemptAt: number): Promise<boolean>
  /**
   * Stores the emission unchanged until its outcome is recorded: for an emission that may be open for long. False: the lease was lost, stop.
   * The events that gather after it are sent as one digest.
   */
  keep(attempts: readonly Attempt[]): Promise<boolean>
  /** Waits for a value, however long, and renews the lease meanwhile. Undefined: the run stops, or the lease was lost. */
  waitFor<Value>(value: Promise<Value>): Promise<Value | undefined>
  /** Waits before an attempt without taking a place from other runs. False: the lease was lost meanwhile, stop. */
  idle(wait: Promise<unknown>): Promise<boolean>
}

/** An emission that is tried once. */
export type TestOrder<To extends Subscription = Subscription> = Pick<
  DeliveryOrder<To>,
  'subscription' | 'agentIdentity' | 'emission' | 'signal'
>

/** A wake as it is sent: the exact bytes that are signed, and the headers that sign them. */
export interface SignedWake {
  readonly body: string
  readonly headers: Record<string, string>
}

/** Returns what signs a wake. Each call of the result has a timestamp of its own: one for each attempt. Source: S1-33. */
export type SignWake = (order: Omit<TestOrder<WakeSubscription>, 'signal'>) => () => SignedWake

/**
 * `delivered`: a receiver took it. `written`: it was written to a connection, and nothing more is ever known of it. `failed`: there are no attempts left. `rejected`: the receiver reports that no retry will help.
 * `stopped`: the gateway stops or another run took over; nothing is decided.
 */
export type DeliveryResult = {
  readonly outcome: 'delivered' | 'written' | 'failed' | 'rejected' | 'stopped'
  readonly reason: string | null
  readonly attempts: readonly Attempt[]
  /** The event is the cause, not the receiver: it does not count towards degraded. */
  readonly isOfEvent?: boolean
}

/** A receiver that is to prove that it wants the events of a subscription. */
interface Challenged {
  readonly url: string
  /** The id of the subscription that its client knows. */
  readonly mcpId: string
  /** The client's secret, as it has given it. */
  readonly secret: string
  readonly payer: Payer
  readonly signal: AbortSignal
}

/** Sends a challenge. Returns why it failed; undefined: the receiver has sent it back. Source: SEP-3415, callback verification. */
export type ChallengeReceiver = (challenged: Challenged) => Promise<CallbackFault | undefined>

/** A way to deliver. It sends, retries and reports the result; the run decides what follows from it. */
export interface Channel<To extends Subscription = Subscription> {
  deliver(order: DeliveryOrder<To>): Promise<DeliveryResult>
  /** One attempt with no retry and no record: what `wake/test` uses. Throws `rate-limited` when there is no place for it. */
  attempt(order: TestOrder<To>): Promise<TestAttempt>
}

/** A channel for each target that this gateway sends to, and one for A2A push notifications. */
export type Channels = Readonly<Record<DeliverableTarget, Channel<WakeSubscription>>> & {
  readonly push: Channel<PushSubscription>
}

/** Delivers an emission through the channel of its subscription. Throws when this gateway has none for its target. */
export function deliver(channels: Channels, order: DeliveryOrder): Promise<DeliveryResult> {
  if (!isForWake(order)) return channels.push.deliver(order as DeliveryOrder<PushSubscription>)
  const { subscription } = order
  const channel = channelTo(channels, subscription)
  if (!channel) throw new Error(`This gateway has no channel for ${subscription.harnessTarget}.`)
  return channel.deliver(order)
}

function isForWake(order: DeliveryOrder): order is DeliveryOrder<WakeSubscription> {
  return order.subscription.kind === 'wake'
}

/** Returns the channel of a wake subscription; undefined: this gateway does not send to its target. */
export function channelTo(
  channels: Channels,
  { harnessTarget }: Pick<WakeSubscription, 'harnessTarget'>,
): Channel<WakeSubscription> | undefined {
  return isDeliverable(harnessTarget) ? channels[harnessTarget] : undefined
}

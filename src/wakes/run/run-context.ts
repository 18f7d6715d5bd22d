import type { Clock } from '../../lib/clock.ts'
import type { AppendEvents } from '../../log/append.ts'
import type { LogEvent } from '../../log/event.ts'
import type { LogNotifier } from '../../log/log-notifier.ts'
import type { Logger } from '../../logger.ts'
import type { Database } from '../../storage/database.ts'
import type { Channels } from '../channel.ts'
import type { FindDelivered } from '../read/pending.ts'
import type { Recorder } from './recorder.ts'

/** What every run works with. */
export interface RunContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
  readonly append: AppendEvents
  readonly channels: Channels
  readonly notifier: LogNotifier
  readonly recorder: Recorder
  /** None is sent any more for what it finds. */
  readonly findDelivered?: FindDelivered
  /** Handles by agent id: a handle never changes. */
  readonly identities: Map<string, string>
  /** Whether no other gateway can have taken over from this one: if not, a lease is looked at before it is relied on. */
  readonly areLeasesSafe: () => boolean
  /** Whether there are other gateways to share the work with. */
  readonly hasPeers: () => boolean
}

/** What a run hears from its dispatcher and tells it. */
export interface RunControl {
  /** The event that the subscription was idle before: then nothing older waits, and nobody tried to send it yet. */
  readonly event?: LogEvent | undefined
  /** Ends waits at once and the run soon: the gateway stops, or the subscription was changed. */
  readonly signal: AbortSignal
  /** Whether the run only waits: then it costs nothing and counts for nothing. */
  setWaiting(waiting: boolean): void
}

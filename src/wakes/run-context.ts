import type { Clock } from '../lib/clock.ts'
import type { AppendEvents } from '../log/append.ts'
import type { LiveTail } from '../log/live-tail.ts'
import type { Logger } from '../logger.ts'
import type { Database } from '../storage/database.ts'
import type { Channels } from './channel.ts'
import type { Recorder } from './recorder.ts'

/** What every run works with. */
export interface RunContext {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
  readonly append: AppendEvents
  readonly channels: Channels
  readonly tail: LiveTail
  readonly recorder: Recorder
}

/** What a run hears from its dispatcher and tells it. */
export interface RunControl {
  /** Ends waits at once and the run soon: the gateway stops, or the subscription was changed. */
  readonly signal: AbortSignal
  /** Whether the run only waits: then it costs nothing and counts for nothing. */
  waits(waiting: boolean): void
}

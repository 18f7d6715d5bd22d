import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../logger/logger.ts'
import type { Database } from '../storage/database.ts'
import type { AppendEvents } from './append.ts'

/** The parts that every feature works with. A feature that needs more extends it. */
export interface Core {
  readonly db: Database
  readonly clock: Clock
  readonly log: Logger
  /** Appends events in the caller's transaction; the agents that they concern are woken after the commit. */
  readonly append: AppendEvents
}

/** The parts for a feature that appends no events. */
export type Base = Omit<Core, 'append'>

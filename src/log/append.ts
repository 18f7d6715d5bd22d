import type { Transaction } from '../storage/database.ts'
import type { LogEvent, NewEvent } from './event.ts'

/**
 * Appends events within the caller's transaction and sees to it that whoever they concern is woken after the
 * commit. Call it last in the transaction. Built in `wakes/`, handed to every feature.
 */
export type AppendEvents = (tx: Transaction, projectId: string, events: readonly NewEvent[]) => Promise<LogEvent[]>

import type { Transaction } from '../storage/database.ts'
import type { NewEvent } from './event.ts'

/**
 * Appends events in the caller's transaction. The agents that they concern are woken after the commit. The events are written at
 * the end of the transaction, together with those of the other writers that share it: the transaction itself cannot read them.
 * The engine in `wakes/` provides it; every feature gets it.
 */
export type AppendEvents = (tx: Transaction, projectId: string, events: readonly NewEvent[]) => Promise<unknown>

import type { Transaction } from '../storage/database.ts'
import type { NewEvent } from './event.ts'

/**
 * Appends events within the caller's transaction, and sees to it that whoever they concern is woken after the commit. They are
 * written at the end of the transaction, with those of everybody who shares it: the transaction itself does not read them.
 * Built in `wakes/`, handed to every feature.
 */
export type AppendEvents = (tx: Transaction, projectId: string, events: readonly NewEvent[]) => Promise<unknown>

import type { Transaction } from '../../storage/database.ts'
import type { PendingSignal } from '../../words/mail.ts'
import { deliverWaiting, withinCharacters } from './deliver-waiting.ts'
import { readWaiting } from './waiting-store.ts'

const drainMax = { messages: 500, characters: 2_000_000 }

/**
 * Takes all waiting mail of an agent, oldest first, and marks it as delivered by the start of a session: each message once,
 * however many sessions start at the same time. Joins the transaction that starts the session. Source: S2-11.
 */
export async function drain(tx: Transaction, agentId: string, sessionId: string): Promise<PendingSignal[]> {
  const waiting = await readWaiting(tx, agentId, drainMax)
  return deliverWaiting(tx, agentId, withinCharacters(waiting, drainMax.characters), 'startup_drain', sessionId)
}

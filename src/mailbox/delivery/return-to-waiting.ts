import { Problem } from '../../errors.ts'
import type { Database } from '../../storage/database.ts'
import { undoDelivery, undoDeliveryInSession } from './waiting-store.ts'

/** The time after its delivery with an answer in which mail may be returned, in ms. */
const returnMs = 60_000

/** Makes mail wait again after the connection broke before the answer that carried it was written. */
export async function returnToWaiting(db: Database, agentId: string, messageIds: readonly string[]): Promise<void> {
  try {
    await db.transaction(async (tx) => {
      for (const messageId of messageIds) await undoDelivery(tx, agentId, messageId)
    })
  } catch (error) {
    // The gateway stops, or the store refuses the write: the mail stays unread in the inbox.
    if (!(error instanceof Problem)) throw error
  }
}

/**
 * Makes mail wait again that came to a session of an agent with an answer, because the harness did not show it. Only mail of the last
 * minute, whose status the agent has not reported. Returns the messages that wait again. Source: S2-14.
 */
export async function returnUnshown(
  db: Database,
  agentId: string,
  sessionId: string,
  messageIds: readonly string[],
): Promise<string[]> {
  return db.transaction(async (tx) => {
    const delivery = { sessionId, since: tx.now - returnMs }
    const returned: string[] = []
    for (const messageId of new Set(messageIds)) {
      if (await undoDeliveryInSession(tx, agentId, messageId, delivery)) returned.push(messageId)
    }
    return returned
  })
}

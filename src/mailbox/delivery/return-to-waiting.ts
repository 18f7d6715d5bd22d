import { Problem } from '../../errors.ts'
import type { Database } from '../../storage/database.ts'
import { undoDelivery } from './waiting-store.ts'

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

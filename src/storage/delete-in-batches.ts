import type { Database, Transaction } from './database.ts'

/** The most rows that one transaction of a long removal deletes: writers wait for one batch, never for the whole. */
export const stepRows = 500

/**
 * Deletes the rows of many items, at most `stepRows` in a transaction, with an iteration of the event loop after each. `remove` deletes
 * up to `limit` rows of an item, oldest first, and returns how many; fewer than the limit means that none is left.
 * Returns how many rows were deleted. Ends early when the signal aborts.
 */
export async function deleteInBatches<Item>(
  db: Database,
  items: readonly Item[],
  remove: (tx: Transaction, item: Item, limit: number) => Promise<number>,
  signal: AbortSignal,
): Promise<number> {
  let removed = 0
  for (let at = 0; at < items.length && !signal.aborted; ) {
    const step = await db.transaction(async (tx) => {
      let next = at
      let left = stepRows
      while (next < items.length) {
        left -= await remove(tx, items[next]!, left)
        if (left <= 0) break
        next++
      }
      return { next, rows: stepRows - left }
    })
    at = step.next
    removed += step.rows
    await new Promise(setImmediate)
  }
  return removed
}

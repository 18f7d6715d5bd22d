import type { Database, Transaction } from './database.ts'

/** How many rows one transaction of a long removal takes: writers wait for a step, never for the whole. */
export const stepRows = 500

/**
 * Removes the rows of many items, at most `stepRows` in a transaction, with a turn of the event loop behind each. `remove` takes
 * away up to `limit` rows of an item, oldest first, and answers how many; fewer than the limit means that none is left.
 * Answers how many rows went. Ends early when the signal aborts.
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

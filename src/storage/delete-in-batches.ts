import type { Database, Transaction } from './database.ts'

/** The most rows that one transaction of a long removal deletes: writers wait for one batch, never for the whole. */
export const stepRows = 100
/** The most items whose rows it deletes: each is a statement, also where it has no row. */
const stepItems = 16

/**
 * Deletes the rows of many items, at most `stepRows` in a transaction. `remove` deletes
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
    const begin = at
    const step = await db.transaction((tx) => deleteStep(tx, items, begin, remove))
    await new Promise(setImmediate)
    at = step.next
    removed += step.rows
  }
  return removed
}

/** Returns the item that the next step begins with, and how many rows were deleted. */
async function deleteStep<Item>(
  tx: Transaction,
  items: readonly Item[],
  begin: number,
  remove: (tx: Transaction, item: Item, limit: number) => Promise<number>,
): Promise<{ readonly next: number; readonly rows: number }> {
  let next = begin
  let left = stepRows
  while (next < items.length && next < begin + stepItems) {
    left -= await remove(tx, items[next]!, left)
    if (left <= 0) break
    next++
  }
  return { next, rows: stepRows - left }
}

/** The size of the first step. Later steps grow while the items are small. */
const stepMin = 16
/** On SQLite a step is read at once. Rows of many columns with some JSON take 20 µs each, and others have a turn after each step. */
const stepMax = 64

/** A page of items. `more`: items follow the last one. `size`: of the items, and of one more if that is what did not fit. */
interface BoundedPage<Item> {
  readonly items: Item[]
  readonly more: boolean
  readonly size: number
}

/**
 * Reads a page in steps and ends it after `limit` items, or where the items are together larger than `sizeMax`. A page has at least
 * one item if there is one. At most one step is read beyond what is returned, however large the items are.
 * @param read returns at most the given number of items after the last one that was read (undefined: from the beginning), in order
 */
export async function readBoundedPage<Item>(
  read: (after: Item | undefined, limit: number) => Promise<readonly Item[]>,
  { limit, sizeMax, sizeOf }: { limit: number; sizeMax: number; sizeOf: (item: Item) => number },
): Promise<BoundedPage<Item>> {
  const items: Item[] = []
  let size = 0
  for (let step = stepMin; ; step = Math.min(step * 4, stepMax)) {
    if (items.length > 0) await new Promise(setImmediate)
    // One extra item shows whether there are more.
    const wanted = Math.min(step, limit + 1 - items.length)
    const found = await read(items.at(-1), wanted)
    for (const item of found) {
      size += sizeOf(item)
      const isFull = items.length === limit || (size > sizeMax && items.length > 0)
      if (isFull) return { items, more: true, size }
      items.push(item)
    }
    if (found.length < wanted) return { items, more: false, size }
    // Large items are read in small steps.
    if (size > sizeMax / 8) step = stepMin / 4
  }
}

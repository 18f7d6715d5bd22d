/** The first step of a page. Later ones grow while what they bring is small. */
const stepMin = 16

/** A page as far as it was read: `more` says that something follows its last item. */
export interface BoundedPage<Item> {
  readonly items: Item[]
  readonly more: boolean
}

/**
 * Reads a page in steps, and ends it at `limit` items or where its items are larger than `sizeMax` together; it has one item at
 * least, where there is one. So no more is read than one step beyond what is told, however large each item is.
 * @param read the next items after the last one that was read (undefined: from the beginning), in order, at most so many
 */
export async function readBoundedPage<Item>(
  read: (after: Item | undefined, limit: number) => Promise<readonly Item[]>,
  { limit, sizeMax, sizeOf }: { limit: number; sizeMax: number; sizeOf: (item: Item) => number },
): Promise<BoundedPage<Item>> {
  const items: Item[] = []
  let size = 0
  for (let step = stepMin; ; step *= 4) {
    // One more than wanted tells whether there is more.
    const wanted = Math.min(step, limit + 1 - items.length)
    const found = await read(items.at(-1), wanted)
    for (const item of found) {
      size += sizeOf(item)
      const isFull = items.length === limit || (size > sizeMax && items.length > 0)
      if (isFull) return { items, more: true }
      items.push(item)
    }
    if (found.length < wanted) return { items, more: false }
    // What is large comes in small steps.
    if (size > sizeMax / 8) step = stepMin / 4
  }
}

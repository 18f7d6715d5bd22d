/** What one iteration of the event loop works on, in bytes of JSON: a few ms. */
const chunkBytes = 256 * 1024

/** Spreads long work over iterations of the event loop, so that other requests go on in between. */
export class Pauses {
  #done = 0

  /**
   * Counts work that was done. Returns a promise of the next iteration of the event loop if this one has done enough: await it.
   * @param bytes that were worked on
   */
  after(bytes: number): Promise<void> | undefined {
    this.#done += bytes
    if (this.#done < chunkBytes) return undefined
    this.#done = 0
    return new Promise((resolve) => setImmediate(resolve))
  }
}

/** Cuts a list into groups that one iteration works on each. An entry that is larger has a group of its own. */
export function groupsOf<Item extends { readonly size: number }>(items: readonly Item[]): Item[][] {
  const groups: Item[][] = []
  let room = 0
  for (const item of items) {
    if (item.size > room || groups.length === 0) {
      groups.push([])
      room = chunkBytes
    }
    groups.at(-1)!.push(item)
    room -= item.size
  }
  return groups
}

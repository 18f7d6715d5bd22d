/** The numbers of values or rows that one statement takes. Each size of a statement is prepared once. */
export const batchSizes = [64, 16, 4, 2, 1] as const

/** Cuts a list into batches of those sizes, the largest first. */
export function batchesOf<Item>(items: readonly Item[]): (readonly Item[])[] {
  if (items.length === 1) return [items]
  const batches: (readonly Item[])[] = []
  for (let at = 0; at < items.length; ) {
    const size = batchSizes.find((one) => one <= items.length - at)!
    batches.push(items.slice(at, at + size))
    at += size
  }
  return batches
}

/** Makes the statement of a size when it is first needed: most are never. */
export function bySize<Made>(make: (size: number) => Made): (size: number) => Made {
  const made = new Map<number, Made>()
  return (size) => {
    const known = made.get(size) ?? make(size)
    made.set(size, known)
    return known
  }
}

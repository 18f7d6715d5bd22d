/** How many values or rows one statement takes. Each size of a statement is prepared once. */
export const pieceSizes = [64, 16, 4, 1] as const

/** Cuts a list into pieces of those sizes, the largest first. */
export function* piecesOf<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; ) {
    const size = pieceSizes.find((one) => one <= items.length - at)!
    yield items.slice(at, at + size)
    at += size
  }
}

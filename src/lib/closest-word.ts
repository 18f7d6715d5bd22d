/** Returns the known word that a mistyped one most likely means. Undefined: none is close. */
export function closestWord(typed: string, known: readonly string[]): string | undefined {
  const distanceMax = Math.max(1, Math.floor(typed.length / 5))
  let best: { word: string; distance: number } | undefined
  for (const word of known) {
    if (Math.abs(word.length - typed.length) > distanceMax) continue
    const distance = editDistance(typed, word)
    if (distance <= distanceMax && distance < (best?.distance ?? Number.POSITIVE_INFINITY)) best = { word, distance }
  }
  return best?.word
}

/** How many letters must be added, taken away, changed or swapped with their neighbour. */
function editDistance(from: string, to: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1]
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const changed = last[j - 1]! + (isSame ? 0 : 1)
      const moved = Math.min(last[j]! + 1, row[j - 1]! + 1, changed)
      row.push(isSwapped ? Math.min(moved, beforeLast[j - 2]! + 1) : moved)
    }
    beforeLast = last
    last = row
  }
  return last[to.length]!
}

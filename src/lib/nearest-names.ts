/** Returns the names that a caller may have meant, nearest first: those that begin alike, or differ by a few slips. Pure. */
export function nearestNames(wanted: string, names: readonly string[], limit: number): string[] {
  const target = bare(wanted)
  const slipsMax = Math.max(1, Math.floor(target.length / 3))
  return names
    .map((name) => ({ name, slips: slipsOrPrefix(target, bare(name), slipsMax) }))
    .filter(({ slips }) => slips <= slipsMax)
    .sort((a, b) => a.slips - b.slips || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name)
}

/** Returns the known word that a mistyped one most likely means; undefined: none is close. Pure. */
export function closestWord(typed: string, known: readonly string[]): string | undefined {
  let slipsMax = Math.max(1, Math.floor(typed.length / 5))
  let closest: string | undefined
  for (const word of known) {
    const slips = slipsBetween(typed, word, slipsMax)
    if (slips > slipsMax) continue
    closest = word
    // Another word has to be closer.
    slipsMax = slips - 1
  }
  return closest
}

const bare = (name: string): string => name.replace(/^@/, '').toLowerCase()

/** As `slipsBetween`. A prefix of a name is one slip away from it. */
function slipsOrPrefix(a: string, b: string, max: number): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  return short.length >= 2 && long.startsWith(short) ? Number(short !== long) : slipsBetween(a, b, max)
}

/**
 * Returns how many letters must be added, taken away, changed or swapped with their neighbour (the optimal string alignment distance);
 * `max + 1` means every distance above `max`.
 */
function slipsBetween(a: string, b: string, max: number): number {
  if (Math.abs(a.length - b.length) > max) return max + 1
  // Names that are compared begin alike, mostly: what both begin with takes no row.
  let start = 0
  while (start < a.length && a[start] === b[start]) start++
  const [from, to] = [a.slice(start), b.slice(start)]
  let beforeLast: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const changed = last[j - 1]! + Number(from[i - 1] !== to[j - 1])
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      row.push(Math.min(last[j]! + 1, row[j - 1]! + 1, changed, isSwapped ? beforeLast[j - 2]! + 1 : changed))
    }
    // A later row never has less than the least of an earlier one.
    if (Math.min(...row) > max) return max + 1
    beforeLast = last
    last = row
  }
  return Math.min(last[to.length]!, max + 1)
}

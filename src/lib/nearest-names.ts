/** Returns the names that a caller may have meant, nearest first: those that begin alike, or differ by a few slips. Pure. */
export function nearestNames(wanted: string, names: readonly string[], limit: number): string[] {
  const target = bare(wanted)
  const slipsMax = Math.max(1, Math.floor(target.length / 3))
  return names
    .map((name) => ({ name, slips: slipsBetween(target, bare(name), slipsMax) }))
    .filter(({ slips }) => slips <= slipsMax)
    .sort((a, b) => a.slips - b.slips || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name }) => name)
}

const bare = (name: string): string => name.replace(/^@/, '').toLowerCase()

/** Returns the Levenshtein distance; `max + 1` means every distance above `max`. A prefix of a name is one slip away from it. */
function slipsBetween(a: string, b: string, max: number): number {
  const [short, long] = a.length < b.length ? [a, b] : [b, a]
  if (short.length >= 2 && long.startsWith(short)) return short === long ? 0 : 1
  if (long.length - short.length > max) return max + 1
  // Names that are compared begin alike, mostly: what both begin with takes no row.
  let start = 0
  while (start < short.length && short[start] === long[start]) start++
  return distance(short.slice(start), long.slice(start), max)
}

function distance(short: string, long: string, max: number): number {
  let row = Array.from({ length: short.length + 1 }, (_, i) => i)
  for (let i = 1; i <= long.length; i++) {
    const next = [i]
    let least = i
    for (let j = 1; j <= short.length; j++) {
      const same = long[i - 1] === short[j - 1]
      const slips = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (same ? 0 : 1))
      next.push(slips)
      least = Math.min(least, slips)
    }
    // A later row never has less than the least of an earlier one.
    if (least > max) return max + 1
    row = next
  }
  return Math.min(row[short.length]!, max + 1)
}

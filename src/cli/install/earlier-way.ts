import type { Records } from '../../config-files/record.ts'
import type { BridgeWay, HarnessFile } from '../../harnesses/harness.ts'

/**
 * What an earlier installation had for the bridge: the way that has written something that no other has, whatever else has changed since.
 * `filesOf(undefined)`: without any. Pure.
 */
export function earlierWay(
  ways: readonly BridgeWay[],
  filesOf: (way: BridgeWay | undefined) => readonly HarnessFile[],
  records: Records,
): BridgeWay | undefined {
  const without = countsOf(filesOf(undefined))
  return ways.find((way) =>
    [...countsOf(filesOf(way))].some(([place, count]) => {
      const [path] = place.split('\n') as [string]
      const written = (records.get(path)?.written ?? []).filter((piece) => keyOf(path, piece) === place).length
      const usual = without.get(place) ?? 0
      return count > usual && written > usual
    }),
  )
}

/** How many pieces there are at each place of each file. */
function countsOf(files: readonly HarnessFile[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { path, pieces } of files) {
    for (const piece of pieces) counts.set(keyOf(path, piece), (counts.get(keyOf(path, piece)) ?? 0) + 1)
  }
  return counts
}

function keyOf(path: string, piece: { readonly kind: string; readonly path: readonly string[] }): string {
  return [path, piece.kind, ...piece.path].join('\n')
}

/**
 * Reads a long range of an index in intervals, so that no statement reads all of it, and other work goes on between them.
 * @param from the position before the first interval
 * @param edgeAfter returns the end of the interval after a position; undefined where the rest is no longer than one interval
 * @param read reads one interval; returns true where that was enough
 */
export async function walk<Position>(
  from: Position,
  edgeAfter: (from: Position) => Promise<Position | undefined>,
  read: (from: Position, edge: Position | undefined) => Promise<boolean>,
): Promise<void> {
  for (let at = from; ; ) {
    const edge = await edgeAfter(at)
    if ((await read(at, edge)) || edge === undefined) return
    at = edge
    await new Promise(setImmediate)
  }
}

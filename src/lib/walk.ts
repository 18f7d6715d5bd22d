import { beginSlice } from './pauses.ts'

/**
 * Reads a long range of an index in intervals, one in each slice of long work, so that no statement reads all of it.
 * @param from the position before the first interval
 * @param edgeAfter returns the end of the interval after a position; undefined: the rest is no longer than one interval
 * @param read reads one interval; true: that was enough
 * @param by the id of the caller that it is read for
 */
export async function walk<Position>(
  from: Position,
  edgeAfter: (from: Position) => Promise<Position | undefined>,
  read: (from: Position, edge: Position | undefined) => Promise<boolean>,
  by: string,
): Promise<void> {
  for (let at = from; ; ) {
    const edge = await edgeAfter(at)
    if ((await read(at, edge)) || edge === undefined) return
    at = edge
    await beginSlice(by)
  }
}

import type { PipelinedStatements } from './database.ts'
import { pipelined } from './pipelined.ts'

/** How many rows a transaction reads, decides about or writes before others get a turn: a few ms at most. */
export const pieceMax = 128

/**
 * Works on a list in pieces, in its order, and lets the event loop turn between them: on SQLite a statement blocks this thread. The
 * transaction stays open meanwhile. A list of one piece is worked on at once. Returns when the last piece has begun.
 */
export async function inPieces<Item>(
  items: readonly Item[],
  size: number,
  work: (piece: readonly Item[]) => Promise<unknown>,
): Promise<PipelinedStatements> {
  let last = pipelined()
  for (let at = 0; at < items.length; at += size) {
    if (at > 0) {
      await last.answered
      await new Promise(setImmediate)
    }
    last = pipelined(work(items.length <= size ? items : items.slice(at, at + size)))
  }
  return last
}

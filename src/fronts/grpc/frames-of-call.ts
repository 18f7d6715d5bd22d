import type { ServerHttp2Stream } from 'node:http2'
import { BodyPieces } from '../body-pieces.ts'

/**
 * Gathers the frames of a call, which may have one byte each, before its message is read. Ends the connection of a call with too many fine
 * ones.
 * @param max how many fine frames a call may have
 */
export function gatherFrames(stream: ServerHttp2Stream, max: number): void {
  const frames = new BodyPieces(max)
  const push = (piece: Buffer | null): boolean => Object.getPrototypeOf(stream).push.call(stream, piece)
  // Node calls it with each frame, and with null at their end.
  stream.push = (piece: Buffer | null) => {
    if (piece === null) {
      frames.passRest(push)
      return push(null)
    }
    if (!frames.areTooMany) return frames.take(piece, push)
    stream.session?.destroy()
    return false
  }
}

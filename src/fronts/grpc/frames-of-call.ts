import type { ServerHttp2Stream } from 'node:http2'
import { BodyPieces } from '../body-pieces.ts'
import type { CallTraffic } from '../grpc-traffic.ts'

/** What the head of any call accounts for, in bytes. A call with a valid key accounts for its metadata too. */
const leastHeadBytes = 512
/** Of each frame. */
const frameHeadBytes = 9

/**
 * Gathers the frames of a call, which may have one byte each, before its message is read. Ends the connection of a call with too many fine
 * ones.
 * @param max how many fine frames a call may have
 * @param traffic counts what the call has received
 */
export function gatherFrames(stream: ServerHttp2Stream, max: number, traffic: CallTraffic): void {
  traffic.received += leastHeadBytes
  const frames = new BodyPieces(max)
  const push = (piece: Buffer | null): boolean => Object.getPrototypeOf(stream).push.call(stream, piece)
  // Node calls it with each frame, and with null at their end.
  stream.push = (piece: Buffer | null) => {
    if (piece === null) {
      frames.passRest(push)
      return push(null)
    }
    traffic.received += piece.length + frameHeadBytes
    if (!frames.areTooMany) return frames.take(piece, push)
    stream.session?.destroy()
    return false
  }
}

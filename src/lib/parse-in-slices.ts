import { isAscii } from 'node:buffer'
import { beginSlice, sliceBytes } from './pauses.ts'

/**
 * Returns what `JSON.parse` makes of a large text in UTF-8. Its characters are decoded before the iteration of the event loop in which it
 * is parsed: that cannot be interrupted. Errors: SyntaxError.
 * @param by the id of the caller that the work is done for; '': the gateway itself
 */
export async function parseInSlices(bytes: Buffer, by: string): Promise<unknown> {
  await beginSlice(by)
  const text = isAscii(bytes) ? bytes.toString('latin1') : await decodeInSlices(bytes, by)
  await beginSlice(by)
  return JSON.parse(text)
}

/** To decode other characters takes longer than to parse them: it is done over several iterations. */
async function decodeInSlices(bytes: Buffer, by: string): Promise<string> {
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; ) {
    const end = endOfPiece(bytes, at + sliceBytes)
    await beginSlice(by)
    pieces.push(bytes.toString('utf8', at, end))
    at = end
  }
  await beginSlice(by)
  return pieces.join('')
}

/** The first byte from `at` on that begins a character: bytes that are not UTF-8 are then replaced as in the whole text. */
function endOfPiece(bytes: Buffer, at: number): number {
  let end = Math.min(at, bytes.length)
  while (end < bytes.length && (bytes[end]! & 0xc0) === 0x80) end++
  return end
}

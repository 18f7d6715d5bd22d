import { beginSlice, Pauses } from './pauses.ts'

/** How deep a value is taken apart: to a part of an artifact of a task in a list. */
const levels = 6
/** Texts are joined up to this many characters before they are kept. */
const joinedLength = 16 * 1024
/** What a text costs beside its bytes, in bytes. */
const textCost = 32

/** Returns what `JSON.stringify` makes of an object of plain values, in UTF-8. A large one takes several iterations of the event loop: slices of `by`. */
export async function jsonInChunks(value: object, by: string): Promise<Buffer> {
  await beginSlice(by)
  const pauses = new Pauses(by)
  const texts: string[] = []
  let bytes = 0
  let joined = ''
  const keep = (): void => {
    texts.push(joined)
    bytes += Buffer.byteLength(joined)
    joined = ''
  }
  for (const text of textsOf(value, 0)) {
    joined += text
    if (joined.length >= joinedLength) keep()
    await pauses.after(text.length + textCost)
  }
  keep()
  const body = Buffer.allocUnsafeSlow(bytes)
  let at = 0
  for (const text of texts) {
    const written = body.write(text, at)
    at += written
    await pauses.after(written)
  }
  return body
}

function* textsOf(value: unknown, depth: number): Generator<string, void, undefined> {
  if (depth === levels || typeof value !== 'object' || value === null || 'toJSON' in value) {
    yield JSON.stringify(value) ?? 'null'
    return
  }
  const isList = Array.isArray(value)
  let before = isList ? '[' : '{'
  for (const [key, inner] of isList ? value.entries() : Object.entries(value)) {
    if (inner === undefined && !isList) continue
    yield isList ? before : `${before}${JSON.stringify(key)}:`
    yield* textsOf(inner, depth + 1)
    before = ','
  }
  if (before !== ',') yield before
  yield isList ? ']' : '}'
}

import type { JsonObject } from './json.ts'
import { beginSlice, Pauses } from './pauses.ts'
import { weightUpTo } from './weight.ts'

/** What is encoded at once, in characters: less than a ms. Longer texts are cut, and heavier values are taken apart. */
const pieceLength = 16 * 1024
/** Texts are joined up to this many characters before they are passed on. */
const joinedLength = 64 * 1024
/** What a text costs beside its bytes, in bytes. */
const textCost = 32
/** How many bytes are copied in the time in which one is encoded. */
const copyPart = 8

/**
 * Returns what `JSON.stringify` makes of an object of plain values, in UTF-8. A large one takes several iterations of the event loop: slices of `by`.
 * @param spare bytes that its ArrayBuffer has after it, so that something can be added without a copy of the whole
 */
export async function jsonInChunks(value: object, by: string, spare = 0): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const text of jsonTexts(value, by)) {
    const piece = Buffer.from(text)
    pieces.push(piece)
    bytes += piece.length
  }
  const pauses = new Pauses(by)
  const body = Buffer.allocUnsafeSlow(bytes + spare).subarray(0, bytes)
  let at = 0
  for (const piece of pieces) {
    piece.copy(body, at)
    at += piece.length
    await pauses.after(piece.length / copyPart)
  }
  return body
}

/** Returns the same in texts of some KiB, one after the other, over several iterations of the event loop. */
export async function* jsonTexts(value: object, by: string): AsyncGenerator<string, void, undefined> {
  await beginSlice(by)
  const pauses = new Pauses(by)
  let joined = ''
  for (const text of textsOf(value, new WeakSet())) {
    joined += text
    if (joined.length >= joinedLength) {
      yield joined
      joined = ''
    }
    const pause = pauses.after(text.length + textCost)
    if (pause) await pause
  }
  yield joined
}

/** The objects and lists that were found to be too heavy to be encoded at once. */
type Heavy = WeakSet<object>

function* textsOf(value: unknown, heavy: Heavy): Generator<string, void, undefined> {
  if (typeof value === 'string' && value.length > pieceLength) yield* textsOfLong(value)
  else if (typeof value !== 'object' || value === null || 'toJSON' in value || isLight(value, heavy)) {
    yield JSON.stringify(value) ?? 'null'
  } else if (Array.isArray(value)) yield* textsOfList(value, heavy)
  else yield* textsOfFields(value, heavy)
}

const isLight = (value: unknown, heavy: Heavy): boolean => weightUpTo(value, pieceLength, heavy) <= pieceLength

/** A text is cut between characters: half of a surrogate pair would be escaped. */
function* textsOfLong(text: string): Generator<string, void, undefined> {
  yield '"'
  for (let at = 0; at < text.length; ) {
    const end = at + pieceLength
    const next = end < text.length && isSecondHalf(text.charCodeAt(end)) ? end + 1 : end
    yield JSON.stringify(text.slice(at, next)).slice(1, -1)
    at = next
  }
  yield '"'
}

const isSecondHalf = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff

function* textsOfList(list: readonly unknown[], heavy: Heavy): Generator<string, void, undefined> {
  let before = '['
  for (let at = 0; at < list.length; before = ',') {
    const light = lightItems(list, at, heavy)
    if (light > at) yield before + JSON.stringify(list.slice(at, light)).slice(1, -1)
    else {
      yield before
      yield* textsOf(list[at], heavy)
    }
    at = Math.max(light, at + 1)
  }
  yield before === '[' ? '[]' : ']'
}

/** Returns the index after those items from `start` on that are encoded together; `start`: the first one is too heavy. */
function lightItems(list: readonly unknown[], start: number, heavy: Heavy): number {
  let left = pieceLength
  for (let at = start; at < list.length; at++) {
    left -= weightUpTo(list[at], pieceLength, heavy)
    if (left < 0) return at
  }
  return list.length
}

function* textsOfFields(value: object, heavy: Heavy): Generator<string, void, undefined> {
  let text = '{'
  let isFirst = true
  // Entries of very many fields would take twice as long.
  for (const key of Object.keys(value)) {
    const inner = (value as JsonObject)[key]
    if (inner === undefined) continue
    text += `${isFirst ? '' : ','}${JSON.stringify(key)}:`
    isFirst = false
    if (isLight(inner, heavy)) text += JSON.stringify(inner)
    else {
      yield text
      yield* textsOf(inner, heavy)
      text = ''
    }
    if (text.length < pieceLength) continue
    yield text
    text = ''
  }
  yield `${text}}`
}

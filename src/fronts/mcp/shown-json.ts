import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { shownText } from '../../lib/words.ts'

/** The beginning of a text that fits into so many bytes of UTF-8, and how many characters the text has. Pure. */
export function cutToBytes(text: string, bytesMax: number): { readonly text: string; readonly isCut: boolean } {
  if (Buffer.byteLength(text) <= bytesMax) return { text, isCut: false }
  const bytes = Buffer.from(text)
  let end = Math.max(0, bytesMax)
  // A character that would be cut in half is left out.
  while (end > 0 && isContinuation(bytes[end]!)) end--
  return { text: bytes.subarray(0, end).toString('utf8'), isCut: true }
}

/** True when a byte of UTF-8 continues a character. */
const isContinuation = (byte: number): boolean => (byte & 0xc0) === 0x80

/** How much of a text, and of a whole result, a model is shown. */
interface Room {
  readonly textBytes: number
  readonly bytes: number
}

/**
 * JSON that a model may be shown: every text and name of a field as `shownText` has it, long texts cut with a mark, and the items of a
 * list that would be too many left out. `isCut` says that something is missing. Pure.
 */
export function shownJson(value: JsonObject, { textBytes, bytes }: Room): { value: JsonObject; isCut: boolean } {
  const state = { left: bytes, isCut: false }
  return { value: shown(value, state, textBytes) as JsonObject, isCut: state.isCut }
}

interface State {
  left: number
  isCut: boolean
}

/** The bytes of a value beside its text: quotes, commas. */
const valueBytes = 4

function shown(value: unknown, state: State, textBytes: number): unknown {
  state.left -= valueBytes
  if (typeof value === 'string') return shownString(value, state, textBytes)
  if (Array.isArray(value)) return shownList(value, state, textBytes)
  return isJsonObject(value) ? shownObject(value, state, textBytes) : value
}

function shownString(value: string, state: State, textBytes: number): string {
  const room = Math.min(textBytes, Math.max(state.left, 0))
  // A text of so many bytes has no more characters than that. What is looked at counts, seen or not.
  const head = value.slice(0, room)
  const { text, isCut } = cutToBytes(shownText(head), room)
  state.left -= Math.max(head.length, Buffer.byteLength(text))
  if (!isCut && head.length === value.length) return text
  state.isCut = true
  // A copy: a part of a text keeps the whole text in memory.
  return `${Buffer.from(text).toString()}… [cut: ${value.length} characters in all]`
}

function shownList(list: readonly unknown[], state: State, textBytes: number): unknown[] {
  const items: unknown[] = []
  for (const item of list) {
    if (state.left <= 0) {
      state.isCut = true
      break
    }
    items.push(shown(item, state, textBytes))
  }
  return items
}

/** Longer than any name of a field of the gateway. */
const nameBytes = 200

function shownName(name: string, state: State): string {
  const head = name.slice(0, nameBytes)
  const { text, isCut } = cutToBytes(shownText(head), nameBytes)
  state.left -= Math.max(head.length, Buffer.byteLength(text))
  if (!isCut && head.length === name.length) return text
  state.isCut = true
  return `${text}…`
}

/** The fields of a view are few; an object of others can have any number. */
const fieldsMax = 64

function shownObject(object: JsonObject, state: State, textBytes: number): JsonObject {
  const fields: [string, unknown][] = []
  for (const [name, value] of Object.entries(object)) {
    if (state.left <= 0 && fields.length >= fieldsMax) {
      state.isCut = true
      break
    }
    fields.push([shownName(name, state), shown(value, state, textBytes)])
  }
  return Object.fromEntries(fields)
}

import { Problem } from '../errors.ts'
import { cutText } from '../lib/cut-text.ts'
import { unstorablePath } from '../lib/words.ts'
import { sizeLimits } from '../limits.ts'
import { requireExactNumbers } from './json-numbers.ts'
import { backslash, endOfString, quote } from './json-string.ts'

const comma = 0x2c
const letterU = 0x75
const openList = 0x5b
const openObject = 0x7b
const closeList = 0x5d
const closeObject = 0x7d

/** The kinds of bytes outside of a text, by their meaning for the shape. */
const plain = 0
const begins = 1
const ends = 2
const separates = 3
const quotes = 4
const meanings = new Uint8Array(256)
for (const byte of [openList, openObject]) meanings[byte] = begins
for (const byte of [closeList, closeObject]) meanings[byte] = ends
meanings[comma] = separates
meanings[quote] = quotes

/**
 * Refuses a JSON text that nests too deeply or has too many values, before it is parsed: parsing allocates many times the
 * text's size, and code that walks a deep value may exceed the stack. Accepts any bytes; the parser decides later whether they
 * are JSON. Returns the number of values, or a few more. Errors: `invalid-request` for depth, `payload-too-large` for the number of values.
 */
export function requireModestJson(text: Buffer): number {
  const depthMax = sizeLimits.depth.max
  const valuesMax = sizeLimits.values.max
  let depth = 0
  let values = 1
  for (let at = 0; at < text.length; at++) {
    const meaning = meanings[text[at]!]!
    if (meaning === plain) continue
    if (meaning === quotes) at = endOfString(text, at)
    else if (meaning === ends) depth--
    else if (meaning === begins && ++depth > depthMax) throw tooDeep()
    else if (++values > valuesMax) throw tooMany()
  }
  return values
}

/**
 * Refuses a JSON text with U+0000 or half of a surrogate pair, because not every store can hold them, or with a number that is not exact. In
 * a UTF-8 text only an escape can contain those characters. Runs after `requireModestJson`. Errors: `invalid-request` with the field.
 */
export function requireStorableJson(text: Buffer): void {
  if (!hasUnstorableEscape(text)) {
    requireExactNumbers(text)
    return
  }
  const field = unstorablePath(parsed(text)) ?? ''
  throw new Problem('invalid-request', {
    ...(field === '' ? {} : { field: cutText(field, fieldMax) }),
    detail: `${cutText(field, fieldMax) || 'The body'}: contains U+0000 or half of a surrogate pair. Remove it.`,
  })
}

const fieldMax = 300

/** Returns the field of the character; undefined if the text is not JSON, which the parser refuses later. */
function parsed(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch {
    return undefined
  }
}

function hasUnstorableEscape(text: Buffer): boolean {
  let at = text.indexOf('\\u')
  if (at < 0) return false
  while (text[at - 1] === backslash) at--
  /** The index at which the second half of a pair must begin. */
  let lowAt = -1
  for (; at < text.length; at++) {
    if (text[at] !== backslash) continue
    const begun = at
    if (lowAt >= 0 && begun !== lowAt) return true
    at++
    if (text[at] !== letterU) continue
    const code = hexAt(text, at + 1)
    if (code === 0 || isHalf(code, 0xdc00) !== lowAt >= 0) return true
    lowAt = isHalf(code, 0xd800) ? begun + 6 : -1
    at += 4
  }
  return lowAt >= 0
}

/** True when a code unit is one of the 1,024 halves that begin there. */
const isHalf = (code: number, first: number): boolean => code >= first && code < first + 0x400

/** Four hexadecimal digits; NaN for anything else. */
function hexAt(text: Buffer, at: number): number {
  let code = 0
  for (let i = at; i < at + 4; i++) code = code * 16 + (hexDigits[text[i] ?? 0] ?? Number.NaN)
  return code
}

const hexDigits: readonly (number | undefined)[] = Array.from({ length: 128 }, (_, byte) => {
  const digit = Number.parseInt(String.fromCharCode(byte), 16)
  return Number.isNaN(digit) ? undefined : digit
})

function tooDeep(): Problem {
  return new Problem('invalid-request', {
    detail: `The body has more than ${sizeLimits.depth.max} levels of nested arrays and objects. Send a flatter value.`,
    extra: { limit: 'depth', max: sizeLimits.depth.max },
  })
}

function tooMany(): Problem {
  return new Problem('payload-too-large', {
    detail: `The body has more than ${sizeLimits.values.max} values. Send fewer, or send the data as a file or a URL.`,
    extra: { limit: 'values', max: sizeLimits.values.max },
  })
}

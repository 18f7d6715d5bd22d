import { Problem } from '../errors.ts'
import { cutText } from '../lib/cut-text.ts'
import { unstorablePath } from '../lib/words.ts'
import { endOfString, quote } from './json-string.ts'

const zero = 0x30
const nine = 0x39
const minus = 0x2d

/**
 * Refuses a JSON text with a number that its reader would change: an integer that would have other digits when it is written again, or a number
 * that is too large and would become null. A number that a program in JavaScript has written passes. Errors: `invalid-request` with the field.
 */
export function requireExactNumbers(text: Buffer): void {
  const number = inexactNumber(text)
  if (!number) return
  const { start, end } = number
  const field = fieldAt(text, number)
  // The text is not JSON: its parser refuses it.
  if (field === undefined) return
  const digits = cutText(text.toString('latin1', start, end), digitsShown)
  throw new Problem('invalid-request', {
    ...(field === '' ? {} : { field: cutText(field, fieldMax) }),
    detail: `${cutText(field, fieldMax) || 'The body'}: ${digits} cannot be read without a loss: JSON's numbers are exact up to 2^53. Send it as a text: "${digits}".`,
  })
}

/**
 * The same for arguments that another reader has read already, where the lost digits cannot be seen: every number beyond 2^53 is refused.
 * Errors: `invalid-request` with the field.
 */
export function requireSafeNumbers(value: unknown): void {
  let isUnsafe = false
  const marked = JSON.stringify(value, (_name, inner: unknown) => {
    if (typeof inner !== 'number' || Math.abs(inner) <= Number.MAX_SAFE_INTEGER) return inner
    isUnsafe = true
    return mark
  })
  if (!isUnsafe) return
  const field = cutText(unstorablePath(JSON.parse(marked)) ?? '', fieldMax)
  throw new Problem('invalid-request', {
    field,
    detail: `${field}: is beyond 2^53, up to where JSON's numbers are exact. Send it as a text.`,
  })
}

/** Stands in for a number whose field is looked for. */
const mark = '\0'

/** Characters of a field, and of a number, in an answer. */
const fieldMax = 300
const digitsShown = 60

interface Place {
  readonly start: number
  readonly end: number
}

/** The first number that is not exact. Accepts any bytes. Undefined: there is none. */
function inexactNumber(text: Buffer): Place | undefined {
  for (let at = 0; at < text.length; at++) {
    const byte = text[at]!
    if (byte === quote) at = endOfString(text, at)
    else if (byte >= zero && byte <= nine) {
      const end = endOfNumber(text, at)
      const start = text[at - 1] === minus ? at - 1 : at
      if (!isExact(text, start, end)) return { start, end }
      at = end - 1
    }
  }
  return undefined
}

/** The characters of `1e309`. */
const shortest = 5
/** Shorter integers are exact. */
const longInteger = /^-?[1-9]\d{15,}$/

function isExact(text: Buffer, start: number, end: number): boolean {
  if (end - start < shortest) return true
  const token = text.toString('latin1', start, end)
  return longInteger.test(token) ? String(Number(token)) === token : Math.abs(Number(token)) !== Infinity
}

function endOfNumber(text: Buffer, start: number): number {
  let at = start
  while (at < text.length && numeric[text[at]!]) at++
  return at
}

/** The bytes that a number may have after its first digit. */
const numeric = new Uint8Array(256)
for (const character of '0123456789.eE+-') numeric[character.charCodeAt(0)] = 1

/** The path of a number, found by a text in its place that no other one is like. Undefined: the text is not JSON. */
function fieldAt(text: Buffer, { start, end }: Place): string | undefined {
  try {
    return unstorablePath(JSON.parse(`${text.subarray(0, start)}${JSON.stringify(mark)}${text.subarray(end)}`))
  } catch {
    return undefined
  }
}

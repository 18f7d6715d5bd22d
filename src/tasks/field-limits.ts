import { Problem } from '../errors.ts'
import { isOneLine, lineFlaw } from '../lib/words.ts'
import { sizeLimits } from '../limits.ts'

/** A limit on one request, by its name in the table. */
export type LimitName = keyof typeof sizeLimits

/** Refuses a list with more entries than the limit. Errors: `invalid-request`. */
export function requireFew(list: unknown, field: string, limit: LimitName, remedy: string): void {
  if (listOf(list).length > sizeLimits[limit].max) throw beyond(field, 'entries', limit, remedy)
}

/** Refuses a text with more characters than the limit. Errors: `invalid-request`, which does not repeat the text. */
export function requireShort(text: unknown, field: string, limit: LimitName, remedy: string): void {
  if (typeof text === 'string' && text.length > sizeLimits[limit].max) throw beyond(field, 'characters', limit, remedy)
}

/**
 * The same for a text that must be one line. The length comes first, so that a long text is not searched. Errors: `invalid-request`, which
 * does not repeat the text: it may hold any character.
 */
export function requireShortLine(text: unknown, field: string, limit: LimitName, remedy: string): void {
  if (typeof text !== 'string') return
  requireShort(text, field, limit, remedy)
  if (!isOneLine(text)) throw refused(field, lineFlaw(text))
}

/** Returns a list as it is, and an empty one for anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

export function refused(field: string, reason: string): Problem {
  return new Problem('invalid-request', { field, detail: `${field}: ${reason}` })
}

export function tooMuch(field: string, limit: LimitName, remedy: string): Problem {
  const { max } = sizeLimits[limit]
  const detail = `${field}: has more than ${max} bytes. ${remedy}`
  return new Problem('payload-too-large', { field, detail, extra: { limit, max } })
}

function beyond(field: string, what: string, limit: LimitName, remedy: string): Problem {
  const { max } = sizeLimits[limit]
  const detail = `${field}: has at most ${max} ${what}. ${remedy}`
  return new Problem('invalid-request', { field, detail, extra: { limit, max } })
}

import { cutText } from '../../lib/cut-text.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/**
 * Characters that a reader does not see, or that change how others are read: controls, formats such as bidirectional and tag
 * characters, half surrogate pairs. Line breaks and tabs stay, and the zero-width joiner: emoji are made with it.
 */
const unseen = /(?![\n\t\u200d])[\p{Cc}\p{Cf}\p{Cs}]/gu

/** Text of others as a model and a person both see it, with at most `max` characters. Pure. */
export function shownText(text: string, max = Number.POSITIVE_INFINITY): string {
  const seen = text.replace(unseen, '')
  return seen.length <= max ? seen : `${cutText(seen, max)}…`
}

/** JSON with every text and name of a field as `shownText` has it. Pure. */
export function shownJson(value: JsonObject): JsonObject {
  return shown(value) as JsonObject
}

function shown(value: unknown): unknown {
  if (typeof value === 'string') return shownText(value)
  if (Array.isArray(value)) return value.map(shown)
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [shownText(name), shown(field)]))
}

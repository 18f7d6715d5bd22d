import { isJsonObject, type JsonObject } from '../lib/json.ts'

/**
 * A document with the fields of two, at every depth: items of lists of the same length are merged in turn. Where both have a value, the
 * first one's counts.
 */
export function merged(first: JsonObject, second: JsonObject): JsonObject {
  const both = { ...first }
  for (const [name, value] of Object.entries(second))
    both[name] = name in first ? mergedValue(first[name], value) : value
  return both
}

function mergedValue(one: unknown, other: unknown): unknown {
  if (isJsonObject(one) && isJsonObject(other)) return merged(one, other)
  if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return one
  return one.map((item, index) => mergedValue(item, other[index]))
}

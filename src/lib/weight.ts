import type { JsonObject } from './json.ts'

const valueWeight = 16

/** About how many characters a value has as JSON. */
export function weightOfValue(value: unknown): number {
  if (typeof value === 'string') return value.length + valueWeight
  if (typeof value !== 'object' || value === null) return valueWeight
  // As base64.
  if (ArrayBuffer.isView(value)) return Math.ceil((value.byteLength * 4) / 3) + valueWeight
  let weight = valueWeight
  if (Array.isArray(value)) for (const item of value) weight += weightOfValue(item)
  else for (const key in value) weight += key.length + weightOfValue((value as JsonObject)[key])
  return weight
}

/**
 * The same, but a value that is heavier than `max` is not read to its end: its weight is any that is more. Such objects and lists are
 * remembered in `heavy`: only to name the fields of one takes as long as it has fields.
 */
export function weightUpTo(value: unknown, max: number, heavy = new WeakSet<object>()): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return weightOfValue(value)
  if (heavy.has(value)) return max + 1
  let weight = valueWeight
  if (Array.isArray(value)) {
    for (const item of value) {
      weight += weightUpTo(item, max, heavy)
      if (weight > max) break
    }
  } else {
    for (const key in value) {
      weight += key.length + weightUpTo((value as JsonObject)[key], max, heavy)
      if (weight > max) break
    }
  }
  if (weight > max) heavy.add(value)
  return weight
}

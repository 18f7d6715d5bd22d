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

import type { JsonObject } from './json.ts'

/**
 * Returns what `JSON.parse(JSON.stringify(value))` makes of an object of plain values, without a copy of its texts: numbers that JSON
 * cannot hold become null, and fields without a value are left out.
 */
export function asJson<Value extends JsonObject>(value: Value): Value {
  return copied(value) as Value
}

function copied(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null
  if (typeof value !== 'object') return value
  if (value === null) return null
  if (Array.isArray(value)) return value.map((item) => copied(item) ?? null)
  const given = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(given.map(([name, field]) => [name, copied(field)]))
}

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
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[name]
    if (field === undefined) continue
    // Assigned, a member with this name would be the prototype of the copy.
    if (name === '__proto__') Object.defineProperty(copy, name, { value: copied(field), ...plainField })
    else copy[name] = copied(field)
  }
  return copy
}

const plainField = { enumerable: true, configurable: true, writable: true }

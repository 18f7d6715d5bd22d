import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { requireModestJson, requireStorableJson } from '../../json-shape.ts'

/**
 * Returns arguments as a JSON Schema has them, from what models send for it: null and "" where they mean nothing, and the JSON text of
 * an object, a list, a number or a boolean. What fits in no way stays as it is, and is refused by name later. Pure.
 * Errors: `invalid-request`, `payload-too-large` for a text that nests too deeply or has too many values.
 */
export function liberalArguments(schema: JsonObject, given: unknown): unknown {
  return taken(schema, given ?? {})
}

function taken(schema: JsonObject, given: unknown): unknown {
  const { type, anyOf, items } = schema
  if (Array.isArray(anyOf)) {
    const forms = anyOf.filter(isJsonObject).map((form) => ({ form, value: taken(form, given) }))
    const fitting = forms.find(({ form, value }) => isOfType(form.type, value))
    return fitting ? fitting.value : given
  }
  const value = isOfType(type, given) ? given : converted(type, given)
  if (isJsonObject(value)) return fieldsOf(schema, value)
  return Array.isArray(value) && isJsonObject(items) ? value.map((item) => taken(items, item)) : value
}

/** The fields of an object. Only an object whose fields are all known has fields that mean nothing. */
function fieldsOf({ properties, required, additionalProperties }: JsonObject, object: JsonObject): JsonObject {
  if (!isJsonObject(properties)) return object
  const needed = Array.isArray(required) ? required : []
  const isClosed = additionalProperties === false
  const fields = Object.entries(object).flatMap(([name, value]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    const field = isJsonObject(known) ? known : {}
    if (isClosed && isNothing(field, value, needed.includes(name))) return []
    return [[name, taken(field, value)]]
  })
  return Object.fromEntries(fields)
}

function isNothing(field: JsonObject, value: unknown, isNeeded: boolean): boolean {
  if (value === null) return !takesNull(field)
  return value === '' && !(isNeeded && field.type === 'string')
}

const takesNull = ({ type, anyOf }: JsonObject): boolean =>
  type === 'null' ||
  (Array.isArray(type) && type.includes('null')) ||
  (Array.isArray(anyOf) && anyOf.filter(isJsonObject).some(takesNull))

function isOfType(type: unknown, value: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => isOfType(one, value))
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isJsonObject(value)
  if (type === 'null') return value === null
  return typeof value === (type === 'integer' ? 'number' : type)
}

function converted(type: unknown, value: unknown): unknown {
  if (typeof value === 'number' && type === 'string' && Number.isSafeInteger(value)) return String(value)
  if (typeof value !== 'string' || type === undefined) return value
  const read = fromText(value.trim())
  return isOfType(type, read) ? read : value
}

const number = /^-?\d+(\.\d+)?$/

/** The value that a text is the JSON of; otherwise the text. A number that would lose digits stays a text. */
function fromText(text: string): unknown {
  if (/^(true|false)$/i.test(text)) return text.toLowerCase() === 'true'
  if (number.test(text)) return Math.abs(Number(text)) <= Number.MAX_SAFE_INTEGER ? Number(text) : text
  if (!/^[[{]/.test(text)) return text
  const bytes = Buffer.from(text)
  requireModestJson(bytes)
  requireStorableJson(bytes)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

import { isJsonObject, type JsonObject } from '../../src/lib/json.ts'

/** Returns every field that a JSON Schema has, as `filters.priority` and `skills[].id`; of an action each of its words. Pure. */
export function fieldsOf(schema: unknown, at = ''): string[] {
  if (!isJsonObject(schema)) return []
  const { properties, items, anyOf, oneOf, allOf } = schema
  const alternatives = [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : []))
  return [
    ...Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([name, inner]) =>
      ownFields(name, inner, at),
    ),
    ...fieldsOf(items, `${at}[].`.replace('.[]', '[]')),
    ...alternatives.flatMap((inner) => fieldsOf(inner, at)),
  ]
}

function ownFields(name: string, schema: unknown, at: string): string[] {
  const { not, enum: words } = schema as JsonObject
  // Nothing may be given there.
  if (not !== undefined) return []
  const actions = name === 'action' && Array.isArray(words) ? words.map((word) => `${at}action: ${word}`) : []
  return [`${at}${name}`, ...actions, ...fieldsOf(schema, `${at}${name}.`)]
}

/** Returns every field that a JSON value has, named alike. Pure. */
export function fieldsIn(value: unknown, at = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => fieldsIn(item, `${at}[].`.replace('.[]', '[]')))
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([name, inner]) => [
    `${at}${name}`,
    ...(name === 'action' ? [`${at}action: ${inner}`] : []),
    ...fieldsIn(inner, `${at}${name}.`),
  ])
}

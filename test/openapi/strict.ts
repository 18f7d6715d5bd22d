import { isJsonObject, type JsonObject } from '../../src/lib/json.ts'

/**
 * The document with every object closed: a field that it does not describe is a difference. Clients get it open, since a field may be
 * added.
 */
export function strict(document: JsonObject): JsonObject {
  const resolve = (schema: JsonObject): JsonObject => {
    const [, name] = /^#\/components\/schemas\/(.+)$/.exec(String(schema.$ref)) ?? []
    return name === undefined ? schema : ((document.components as Schemas).schemas[name] as JsonObject)
  }
  const close = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(close)
    if (!isJsonObject(value)) return value
    const { allOf, ...rest } = value
    if (Array.isArray(allOf)) {
      // A closed part would refuse the fields of the others.
      return { ...rest, allOf: allOf.map((part) => withClosedFields(resolve(part))), unevaluatedProperties: false }
    }
    const closed = withClosedFields(value)
    return isObjectSchema(closed) && !('additionalProperties' in closed)
      ? { ...closed, additionalProperties: false }
      : closed
  }
  const withClosedFields = (schema: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(schema).map(([keyword, value]) => [keyword, close(value)]))
  return close(document) as JsonObject
}

interface Schemas {
  readonly schemas: Readonly<Record<string, unknown>>
}

const isObjectSchema = ({ type, properties }: JsonObject): boolean =>
  isJsonObject(properties) && (type === 'object' || (Array.isArray(type) && type.includes('object')))

import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/**
 * A schema for `tools/list`. It checks nothing: input is checked where the tool runs, whose refusal names the field and the remedy, and
 * an output that has more fields than expected must not make an error of what was done. A tool is registered for each connection or
 * request, and its JSON Schema is made once.
 */
export function listedSchema(schema: z.ZodType, io: 'input' | 'output'): StandardSchemaWithJSON {
  const jsonSchema = () => listed(schema, io)
  return {
    '~standard': {
      version: 1,
      vendor: 'rouse',
      validate: (value) => ({ value }),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  }
}

const wholes = new WeakMap<z.ZodType, JsonObject>()
const plains = new WeakMap<z.ZodType, JsonObject>()

/** The JSON Schema of a schema, with everything that it takes. */
export function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const known = wholes.get(schema)
  if (known) return known
  const made = z.toJSONSchema(schema, { target: 'draft-2020-12', io }) as JsonObject
  wholes.set(schema, made)
  return made
}

function listed(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const known = plains.get(schema)
  if (known) return known
  const made = plain(io === 'input' ? withoutNull(jsonSchemaOf(schema, io)) : jsonSchemaOf(schema, io))
  plains.set(schema, made)
  return made
}

/** The keywords that the APIs of all providers take. Each of them costs every model that sees the tool. */
const kept = new Set([
  'type',
  'description',
  'enum',
  'required',
  'minimum',
  'maximum',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
])

/**
 * A schema as model providers take it: a type at every node, and no keyword that one of them refuses. It may say less than the gateway
 * checks, and never more. Pure.
 */
function plain(schema: JsonObject): JsonObject {
  const { properties, items, anyOf, additionalProperties } = schema
  const fields = Object.entries(isJsonObject(properties) ? properties : {}).filter(([, field]) => isTaken(field))
  return {
    // A field that takes any JSON value usually has an object.
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map(plain) } : { type: 'object' }),
    ...pick(schema),
    ...(isJsonObject(properties)
      ? { properties: Object.fromEntries(fields.map(([name, field]) => [name, plain(field as JsonObject)])) }
      : {}),
    ...(isJsonObject(items) ? { items: plain(items) } : {}),
    ...(additionalProperties === false ? { additionalProperties } : {}),
  }
}

/** A schema whose fields have one type each: a model leaves a field out, and null is taken all the same. Pure. */
function withoutNull(schema: JsonObject): JsonObject {
  const { type, anyOf, properties, items } = schema
  const forms = Array.isArray(anyOf) ? anyOf.filter(isJsonObject).filter((form) => form.type !== 'null') : []
  const [only] = forms
  if (only && forms.length === 1) return withoutNull({ ...schema, anyOf: undefined, ...only })
  return {
    ...schema,
    ...(Array.isArray(type) ? { type: type.find((one) => one !== 'null') } : {}),
    ...(forms.length > 0 ? { anyOf: forms.map(withoutNull) } : {}),
    ...(isJsonObject(items) ? { items: withoutNull(items) } : {}),
    ...(isJsonObject(properties)
      ? {
          properties: Object.fromEntries(
            Object.entries(properties).map(([name, field]) => [name, withoutNull(field as JsonObject)]),
          ),
        }
      : {}),
  }
}

/** Every integer is a safe one: only narrower bounds say something. */
const isSaid = ([keyword, value]: [string, unknown]): boolean =>
  kept.has(keyword) && Math.abs(Number(value)) !== Number.MAX_SAFE_INTEGER

const pick = (schema: JsonObject): JsonObject => Object.fromEntries(Object.entries(schema).filter(isSaid))

/** True when a field takes any value at all. */
const isTaken = (field: unknown): boolean => isJsonObject(field) && field.not === undefined

import { z } from 'zod'
import type { Schema } from './type-schemas.ts'

type Fields = Readonly<Record<string, Schema>>

/** Returns the request body of a schema: optional where every field is. */
export function bodyOf(schema: z.ZodType | undefined): object | undefined {
  if (!schema) return undefined
  const json = jsonSchemaOf(schema)
  const required = json.type !== 'object' || json.required !== undefined
  return { ...(required ? { required } : {}), content: { 'application/json': { schema: json } } }
}

/** Returns the parameters of the schema of a query. */
export function queryOf(schema: z.ZodType | undefined): object[] {
  if (!schema) return []
  const { properties = {}, required = [] } = jsonSchemaOf(schema) as { properties?: Fields; required?: string[] }
  return Object.entries(properties).map(([name, field]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    schema: writtenInUrl(field),
  }))
}

/** A query has digits for a number, and a field again for a list. */
function writtenInUrl(field: Schema): Schema {
  const { anyOf, pattern, minimum, maximum } = field
  const list = Array.isArray(anyOf) ? (anyOf as Schema[]).find(({ type }) => type === 'array') : undefined
  if (list) return list
  if (field.isFlag) return { type: 'boolean' }
  return pattern === String.raw`^\d{1,16}$` ? { type: 'integer', ...safe({ minimum, maximum }) } : field
}

function jsonSchemaOf(schema: z.ZodType): Schema {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const { def } = zodSchema._zod
      // A message of a task may be a text: it is made an object before it is checked.
      if (def.type === 'pipe' && def.in._zod.def.type === 'transform') {
        const { ...object } = jsonSchema
        for (const keyword of Object.keys(jsonSchema)) delete jsonSchema[keyword]
        jsonSchema.anyOf = [{ type: 'string', minLength: 1 }, object]
      }
      const bounds = safe(jsonSchema as Schema)
      if (!('minimum' in bounds)) delete jsonSchema.minimum
      if (!('maximum' in bounds)) delete jsonSchema.maximum
    },
  })
  return json as Schema
}

/** Every integer is a safe one: only narrower bounds say something. */
function safe({ minimum, maximum }: { minimum?: unknown; maximum?: unknown }): Schema {
  return Object.fromEntries(
    Object.entries({ minimum, maximum }).filter(
      ([, bound]) => bound !== undefined && Math.abs(Number(bound)) !== Number.MAX_SAFE_INTEGER,
    ),
  )
}

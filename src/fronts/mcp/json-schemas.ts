import type { StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import { z } from 'zod'
import type { JsonObject } from '../../lib/json.ts'

/**
 * A schema for `tools/list`. It checks nothing: input is checked where the tool runs, whose refusal names the field and the remedy, and
 * an output that has more fields than expected must not make an error of what was done. A tool is registered for each connection or
 * request, and its JSON Schema is made once.
 */
export function listedSchema(schema: z.ZodType, io: 'input' | 'output'): StandardSchemaWithJSON {
  const jsonSchema = () => jsonSchemaOf(schema, io)
  return {
    '~standard': {
      version: 1,
      vendor: 'rouse',
      validate: (value) => ({ value }),
      jsonSchema: { input: jsonSchema, output: jsonSchema },
    },
  }
}

const made = new WeakMap<z.ZodType, JsonObject>()

function jsonSchemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const known = made.get(schema)
  if (known) return known
  const json = z.toJSONSchema(schema, { target: 'draft-2020-12', io, override: shorten }) as JsonObject
  made.set(schema, json)
  return json
}

/** Removes keywords that add nothing: some models refuse keywords that they do not know, and every word of a tool costs all of them. */
function shorten({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  // The names of fields are strings in any case.
  delete jsonSchema.propertyNames
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
}

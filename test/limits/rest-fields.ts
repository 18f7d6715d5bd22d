import { z } from 'zod'
import { restTable } from '../../src/fronts/rest/table.ts'

/** The part of JSON Schema that a field of REST uses. */
interface Schema {
  readonly type?: string
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly not?: object
  readonly isFlag?: boolean
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maximum?: number
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
}

/** One field of the body or the query of some routes. */
interface RestField {
  readonly name: string
  /** Undefined: nothing bounds it. */
  readonly bound: string | undefined
  readonly routes: readonly string[]
}

/** The contents that clients may fill as they like. Each is measured whole, as JSON. */
const contents: readonly [RegExp, string][] = [
  [/(^|\.)parts\[\]\.(text|raw|url|data|metadata|\*)(\.\*)?$/, '`body`, `contentDepth`'],
  [/(^|\.)(message|artifact|artifacts\[\])\.(metadata|\*)(\.\*)?$/, '`body`, `contentDepth`'],
  [/^arguments(\.\*)?$/, '`body`, the `inputSchema` of the event type'],
  [/^payload(\.\*)?$/, '`metadata`, `contentDepth`'],
]

/** Returns every field of every REST route with what bounds it, in the order of the routes. */
export function restFields(): RestField[] {
  const found = new Map<string, { name: string; bound: string | undefined; routes: string[] }>()
  for (const { route, body, query } of restTable.routes) {
    for (const schema of [body, query]) {
      if (schema === undefined) continue
      for (const [name, bound] of fieldsOf(z.toJSONSchema(schema, { io: 'input' }) as Schema, '')) {
        const key = `${name} ${bound}`
        const field = found.get(key) ?? { name, bound, routes: [] }
        if (!field.routes.includes(route)) field.routes.push(route)
        found.set(key, field)
      }
    }
  }
  return [...found.values()]
}

/** The fields of a schema: each with its bound. Words of a list and booleans bound themselves, and are left out. */
function fieldsOf(schema: Schema, name: string): [string, string | undefined][] {
  const content = contents.find(([pattern]) => pattern.test(name))
  if (content) return /\*$/.test(name) ? [] : [[name, content[1]]]
  const choices = schema.anyOf ?? schema.oneOf ?? schema.allOf
  if (choices) return choices.flatMap((choice) => fieldsOf(choice, name))
  if (schema.enum || schema.const !== undefined || schema.not) return []
  switch (schema.type) {
    case 'boolean':
    case 'null':
      return []
    case 'string':
      return schema.isFlag ? [] : [[name, boundOfText(schema)]]
    case 'integer':
    case 'number':
      return [[name, schema.maximum === undefined ? undefined : `up to ${whole(schema.maximum)}`]]
    case 'array': {
      const bound = schema.maxItems === undefined ? undefined : `${whole(schema.maxItems)} items`
      return [[name, bound], ...(schema.items ? fieldsOf(schema.items, `${name}[]`) : [])]
    }
    case 'object': {
      const named = Object.entries(schema.properties ?? {}).flatMap(([key, value]) =>
        fieldsOf(value, name === '' ? key : `${name}.${key}`),
      )
      const others = schema.additionalProperties
      return others ? [...named, ...fieldsOf(others === true ? {} : others, `${name}.*`)] : named
    }
    default:
      return [[name, undefined]]
  }
}

/** A number of a query is a text of digits that knows its maximum; a text may be bounded by its pattern: `^[a-z]{1,100}$`. */
function boundOfText({ maxLength, maximum, pattern = '' }: Schema): string | undefined {
  if (maximum !== undefined) return `up to ${whole(maximum)}`
  const ofPattern = /^\^(?:\[[^\]]+\]|\\d)\{\d+,(\d+)\}\$$/.exec(pattern)?.[1]
  const max = maxLength ?? (ofPattern === undefined ? undefined : Number(ofPattern))
  return max === undefined ? undefined : `${whole(max)} characters`
}

const whole = (value: number): string => value.toLocaleString('en')

import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import type { McpEventCodes } from '../../../words/mcp-events.ts'
import { eventError, invalidParams } from './errors.ts'

/** Returns the type and the arguments that a request names, as the API takes them. Errors: -32602. */
export function chosenIn({ name, arguments: given }: JsonObject): { name: string; arguments: JsonObject } {
  if (typeof name !== 'string' || name === '') throw invalidParams('name', 'is required: the name of an event type.')
  if (given !== undefined && given !== null && !isJsonObject(given)) {
    throw invalidParams('arguments', 'is an object with the arguments of the event type.')
  }
  return { name, arguments: (given as JsonObject | null | undefined) ?? {} }
}

/** Returns where events are to go. Errors: -32602; Unsupported for another mode than `webhook`. */
export function deliveryIn({ delivery }: JsonObject, codes: McpEventCodes): { url: unknown; secret: unknown } {
  if (!isJsonObject(delivery)) throw invalidParams('delivery', 'is required: {mode: "webhook", url, secret}.')
  const { mode, url, secret } = delivery
  if (mode !== undefined && mode !== 'webhook') {
    throw eventError(codes, 'Unsupported', { feature: 'deliveryMode', value: String(mode).slice(0, 100) })
  }
  return { url, secret }
}

const positionFields = ['cursor', 'maxAgeMs'] as const

/** Returns the fields of a request that say where it begins: those that it has. */
export function positionIn(params: JsonObject): JsonObject {
  return Object.fromEntries(
    positionFields.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])),
  )
}

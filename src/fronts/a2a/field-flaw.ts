import { cutText } from '../../lib/cut-text.ts'
import type { JsonObject } from '../../lib/json.ts'

/** Fields with the client's own content: nothing converts their values. */
const free = new Set(['metadata', 'data'])

/** Fields of requests that hold one string, number or boolean, in both versions and in both spellings of ProtoJSON (specification §5.5). */
const single = new Set(
  `messageId message_id contextId context_id taskId task_id id name configId config_id
  text url uri filename mediaType media_type mimeType mime_type token scheme credentials
  historyLength history_length pageSize page_size pageToken page_token statusTimestampAfter status_timestamp_after
  includeArtifacts include_artifacts returnImmediately return_immediately blocking`.split(/\s+/),
)

/** Fields of requests that hold a list of strings. */
const lists = new Set(
  `extensions referenceTaskIds reference_task_ids acceptedOutputModes accepted_output_modes`.split(/\s+/),
)

export interface FieldFlaw {
  readonly field: string
  /** Names the field, and says what it must be. */
  readonly detail: string
}

/**
 * Finds a field whose value ProtoJSON's reader would change silently: it makes `[object Object]` of an object where a string is
 * expected, and leaves out a list that is none; or on which it would throw, as on an object with a `toString` of its own.
 * Undefined: there is none. Without recursion.
 */
export function fieldFlaw(body: JsonObject): FieldFlaw | undefined {
  const open: JsonObject[] = [body]
  for (let value = open.pop(); value; value = open.pop()) {
    if (Object.hasOwn(value, 'toString'))
      return flaw('toString', 'is no field of A2A, and cannot be read. Leave it out.')
    for (const key in value) {
      const inner = value[key]
      if (inner == null || free.has(key)) continue
      if (lists.has(key)) {
        if (!isListOfValues(inner)) return flaw(key, 'must be a list of strings.')
      } else if (typeof inner === 'object') {
        if (single.has(key)) return flaw(key, 'must be a single value, not a list or an object.')
        open.push(inner as JsonObject)
      }
    }
  }
  return undefined
}

function isListOfValues(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => item !== null && typeof item !== 'object')
}

function flaw(field: string, reason: string): FieldFlaw {
  const named = cutText(field, 100)
  return { field: named, detail: `${named}: ${reason}` }
}

import { cutText } from '../../lib/cut-text.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/**
 * The fields of requests, in both versions and in both spellings of ProtoJSON (specification §5.5), by what they hold. Fields with other names are
 * ignored, as is what `metadata` and `data` hold: nothing reads them.
 */
const kinds = {
  text: `messageId message_id contextId context_id taskId task_id id name configId config_id role kind status
    text url uri fileWithUri file_with_uri raw bytes fileWithBytes file_with_bytes filename mediaType media_type mimeType mime_type
    token scheme credentials pageToken page_token statusTimestampAfter status_timestamp_after`,
  number: 'historyLength history_length pageSize page_size',
  boolean: 'includeArtifacts include_artifacts returnImmediately return_immediately blocking',
  texts: 'extensions referenceTaskIds reference_task_ids acceptedOutputModes accepted_output_modes schemes',
  object: `message request configuration config file authentication metadata
    pushNotificationConfig push_notification_config pushNotification push_notification
    taskPushNotificationConfig task_push_notification_config`,
  objects: 'parts content',
} as const

type Kind = keyof typeof kinds

const kindOf: ReadonlyMap<string, Kind> = new Map(
  Object.entries(kinds).flatMap(([kind, names]) =>
    names.split(/\s+/).map((name): [string, Kind] => [name, kind as Kind]),
  ),
)

/** Values that ProtoJSON's reader converts without a loss, by what a field holds; and what it must be otherwise. */
const rules: Readonly<Record<Kind, readonly [isGood: (value: unknown) => boolean, mustBe: string]>> = {
  text: [isSingle, 'a string'],
  number: [isNumber, 'a number'],
  boolean: [(value) => typeof value === 'boolean', 'true or false'],
  texts: [
    (value) => Array.isArray(value) && value.every((item) => item !== null && isSingle(item)),
    'a list of strings',
  ],
  object: [isJsonObject, 'an object'],
  objects: [Array.isArray, 'a list'],
}

/** A field whose value is refused. */
export interface FieldFlaw {
  /** Its path in the body, e.g. `message.parts[0].text`. */
  readonly field: string
  /** Names the field, and says what it must be. */
  readonly detail: string
}

/**
 * Finds a field whose value ProtoJSON's reader would change silently, or on which it would throw or loop: it makes `[object Object]` of an
 * object where a string is expected and `true` of the text "false", leaves out a list that is none, and makes as many bytes of an object as
 * its `length` says. Undefined: there is none. Without recursion.
 */
export function fieldFlaw(body: JsonObject): FieldFlaw | undefined {
  const open = [{ holder: body, at: '' }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { holder, at } = next
    for (const name in holder) {
      const kind = kindOf.get(name)
      const value = holder[name]
      if (kind === undefined || value == null) continue
      const field = at + name
      const [isGood, mustBe] = rules[kind]
      if (!isGood(value)) return { field, detail: `${field}: must be ${mustBe}, not ${shapeOf(value)}.` }
      if (kind === 'object' && name !== 'metadata') open.push({ holder: value as JsonObject, at: `${field}.` })
      if (kind !== 'objects') continue
      const items = value as unknown[]
      for (let index = 0; index < items.length; index++) {
        const item = items[index]
        if (isJsonObject(item)) open.push({ holder: item, at: `${field}[${index}].` })
      }
    }
  }
  return undefined
}

/** Removes fields that are null: in both versions that is the same as to leave them out, but not every reader of the SDK does so. */
export function dropNulls(body: JsonObject): void {
  const open = [body]
  for (let holder = open.pop(); holder; holder = open.pop()) {
    for (const name of Object.keys(holder)) {
      const kind = kindOf.get(name)
      const value = holder[name]
      if (kind === undefined) continue
      if (value === null) delete holder[name]
      else if (kind === 'object' && name !== 'metadata' && isJsonObject(value)) open.push(value)
      else if (kind === 'objects' && Array.isArray(value)) open.push(...value.filter(isJsonObject))
    }
  }
}

function isSingle(value: unknown): boolean {
  return typeof value !== 'object'
}

/** ProtoJSON allows integers as text. */
function isNumber(value: unknown): boolean {
  return typeof value === 'number' || (typeof value === 'string' && /^-?\d{1,15}$/.test(value))
}

function shapeOf(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(cutText(value, 40))
  if (typeof value !== 'object') return String(value)
  return Array.isArray(value) ? 'this list' : 'an object'
}

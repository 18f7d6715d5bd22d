import { isJsonObject } from '../lib/json.ts'
import { isOneLine, lineFlaw } from '../lib/words.ts'
import { sizeLimits } from '../limits.ts'
import { requireShallow } from './encoded.ts'
import { type LimitName, listOf, refused, requireFew, requireShort, requireShortLine, tooMuch } from './field-limits.ts'

/** The fields of an A2A message, of any version and binding, that are counted before anything else is done with it. */
interface BoundedMessage {
  readonly messageId?: unknown
  readonly contextId?: unknown
  readonly taskId?: unknown
  readonly parts?: unknown
  readonly extensions?: unknown
  readonly referenceTaskIds?: unknown
  readonly metadata?: unknown
}

/**
 * Refuses a message that exceeds the limits on messages, or whose ids or URIs are not valid. It reads no part, so that its cost does not
 * grow with the content, except for metadata. Errors: `invalid-request`, `payload-too-large`.
 */
export function requireBoundedMessage(message: BoundedMessage, requestMetadata?: unknown): void {
  for (const field of ['messageId', 'contextId', 'taskId'] as const) {
    const id = message[field]
    if (typeof id === 'string') requireBoundedId(id, `message.${field}`)
  }
  requireFew(message.parts, 'message.parts', 'parts', 'Send the rest in another message.')
  requireFew(message.extensions, 'message.extensions', 'items', 'Send only the ones that matter here.')
  requireFew(message.referenceTaskIds, 'message.referenceTaskIds', 'items', 'Name the nearest.')
  requireShortLines(message.extensions, 'message.extensions', 'url', 'Name a shorter URI.')
  requireShortLines(message.referenceTaskIds, 'message.referenceTaskIds', 'id', 'Name tasks by their ids.')
  requireModestMetadata(message.metadata, 'message.metadata')
  requireModestMetadata(requestMetadata, 'metadata')
}

/** Errors: `invalid-request`. The error does not repeat the id, which may be long and hold any character. */
export function requireBoundedId(id: string, field: string): void {
  requireShortLine(id, field, 'id', 'Use a shorter id.')
}

/** Errors: `invalid-request`. */
export function requireBoundedModes(modes: unknown): void {
  const field = 'configuration.acceptedOutputModes'
  requireFew(modes, field, 'items', 'Send only the ones that you prefer.')
  requireShortLines(modes, field, 'id', 'Name media types.')
}

/** The `taggedConcepts` of a metadata object. Entries that are not strings are ignored. Errors: `invalid-request`, `payload-too-large`. */
export function readBoundedConcepts(given: unknown): string[] {
  const field = 'metadata.taggedConcepts'
  requireFew(given, field, 'items', 'Send only the ones that matter most.')
  const concepts = listOf(given).filter((concept) => typeof concept === 'string')
  for (const concept of concepts) {
    requireShort(concept, field, 'id', 'Use a shorter word.')
    if (!isOneLine(concept)) throw refused(field, `each ${lineFlaw(concept)}`)
  }
  return concepts
}

function requireModestMetadata(metadata: unknown, field: string): void {
  if (!isJsonObject(metadata)) return
  requireShallow(metadata, field)
  if (Buffer.byteLength(JSON.stringify(metadata)) > sizeLimits.metadata.max) {
    throw tooMuch(field, 'metadata', 'Send the rest as a part of the message, or send a URL.')
  }
}

function requireShortLines(list: unknown, field: string, limit: LimitName, remedy: string): void {
  for (const [index, text] of listOf(list).entries()) requireShortLine(text, `${field}[${index}]`, limit, remedy)
}

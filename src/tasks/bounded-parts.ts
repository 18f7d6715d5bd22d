import type { Part } from '@a2a-js/sdk'
import { Pauses } from '../lib/pauses.ts'
import { requireShortLine } from './field-limits.ts'

/**
 * Refuses parts whose file name, media type or URL is too long or not one line. A client shows them to a person, a model or a terminal.
 * Errors: `invalid-request` with the field, e.g. `message.parts[3].filename`.
 */
export function requireBoundedParts(parts: readonly Part[]): void {
  for (const [index, part] of parts.entries()) requireBoundedPart(part, index)
}

/**
 * The same for the parts of a large message, in slices: they may have 2.7 million such characters, and to search them takes up to 0.1 µs each.
 * @param by the id of the sender
 */
export async function requireBoundedPartsOfMany(parts: readonly Part[], by: string): Promise<void> {
  const pauses = new Pauses(by)
  for (const [index, part] of parts.entries()) {
    const pause = pauses.before(searchCost * charactersOf(part))
    if (pause) await pause
    requireBoundedPart(part, index)
  }
}

/** What a character that is searched costs at most, in bytes of JSON that are parsed in the same time. */
const searchCost = 4

function charactersOf({ filename, mediaType, content }: Part): number {
  return filename.length + mediaType.length + (content?.$case === 'url' ? content.value.length : 0)
}

function requireBoundedPart({ filename, mediaType, content }: Part, index: number): void {
  // Nearly all parts have none of them.
  if (filename) requireShortLine(filename, `message.parts[${index}].filename`, 'filename', 'Use a shorter name.')
  if (mediaType) {
    requireShortLine(mediaType, `message.parts[${index}].mediaType`, 'mediaType', 'Name a media type, e.g. text/plain.')
  }
  if (content?.$case === 'url') {
    requireShortLine(
      content.value,
      `message.parts[${index}].url`,
      'url',
      'Use a shorter URL, or send the content itself.',
    )
  }
}

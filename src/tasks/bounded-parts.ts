import type { Part } from '@a2a-js/sdk'
import { requireShortLine } from './field-limits.ts'

/**
 * Refuses parts whose file name, media type or URL is too long or not one line. A client shows them to a person, a model or a terminal.
 * Errors: `invalid-request` with the field, e.g. `message.parts[3].filename`.
 */
export function requireBoundedParts(parts: readonly Part[]): void {
  for (const [index, part] of parts.entries()) requireBoundedPart(part, index)
}

function requireBoundedPart({ filename, mediaType, content }: Part, index: number): void {
  // Nearly all parts have none of them.
  if (filename) requireShortLine(filename, `message.parts[${index}].filename`, 'id', 'Use a shorter name.')
  if (mediaType) {
    requireShortLine(mediaType, `message.parts[${index}].mediaType`, 'id', 'Name a media type, e.g. text/plain.')
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

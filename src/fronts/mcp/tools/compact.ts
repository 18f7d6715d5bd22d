import type { JsonObject } from '../../../lib/json.ts'
import { shownText } from '../../../lib/words.ts'
import { cutToBytes } from '../shown-json.ts'

/** An object without the fields that are null, or an empty list. Pure. */
export function compact<T extends object>(view: T): JsonObject {
  const isSaid = (value: unknown): boolean => value !== null && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(view).filter(([, value]) => isSaid(value)))
}

/** The beginning of a text, with what is missing and how to read it. Pure. */
export function cutBody(body: string, bytesMax: number, whole: string): string {
  const shown = shownText(body)
  const { text, isCut } = cutToBytes(shown, bytesMax)
  return isCut ? `${text}… [cut: ${shown.length} characters in all. ${whole}]` : shown
}

/** The first items that fit together, at least one. Pure. */
export function withinBytes<Item>(items: readonly Item[], bytesMax: number): Item[] {
  let left = bytesMax
  const fitting: Item[] = []
  for (const item of items) {
    left -= Buffer.byteLength(JSON.stringify(item))
    if (left < 0 && fitting.length > 0) break
    fitting.push(item)
  }
  return fitting
}

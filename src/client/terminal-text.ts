import { shownText } from '../lib/words.ts'
import type { Io } from './io.ts'

const styles = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 } as const

/** ANSI only when the terminal wants it. */
export function paint(io: Pick<Io, 'color'>, style: keyof typeof styles, text: string): string {
  return io.color && text !== '' ? `\u001b[${styles[style]}m${text}\u001b[0m` : text
}

/**
 * Text of others, safe to print: without control, direction and other invisible characters a subject or an artifact cannot move the cursor,
 * change the window's title or hide the text after it. `lines` keeps line breaks and tabs.
 */
export function plain(value: unknown, keep: 'line' | 'lines' = 'line'): string {
  if (value === undefined || value === null) return ''
  const text = typeof value === 'string' ? value : typeof value === 'object' ? JSON.stringify(value) : String(value)
  // U+FEFF counts as white space in patterns, and has no width.
  return shownText(keep === 'lines' ? text : text.replace(/[^\S\ufeff]+/gu, ' '))
}

/** At most `lengthMax` characters, with an ellipsis where it was cut. */
export function clip(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax - 1)}…`
}

import { codeOf } from '../lib/unseen.ts'
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

/**
 * Text of others as it is, for a person who decides on it: a character that is not seen, that looks like a space, or that a terminal obeys is
 * written out, as `⟨U+202E⟩`; so is `⟨` itself, so that no text looks like another one. `lines` keeps line breaks.
 */
export function exact(text: string, keep: 'line' | 'lines' = 'line'): string {
  return text.replace(written, (one) => (one === '\n' && keep === 'lines' ? one : `⟨${codeOf(one)}⟩`))
}

/** Blanks that have a class of what is seen: of Braille, of Hangul, of music, of Egyptian, and the place of an object. */
const blanks = String.raw`\u2800\u115f\u1160\u{1d159}\u{13441}\u{13442}\ufffc`
const written = new RegExp(String.raw`(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}${blanks}⟨]`, 'gu')

/** Controls that JSON leaves as they are, and a terminal obeys: DEL, C1, and those that change the direction of text. */
const obeyed = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

export const hasObeyed = (text: string): boolean => text.search(obeyed) >= 0

/** Escapes such controls in JSON, and in quoted texts of YAML, as `\u202e`: the value stays the same. */
export function escapeObeyed(text: string): string {
  return text.replace(obeyed, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** At most `widthMax` columns of a terminal, with an ellipsis where it was cut. */
export function clip(text: string, widthMax: number): string {
  if (widthOf(text) <= widthMax) return text
  let cut = ''
  let width = 1
  for (const { segment } of graphemes.segment(text)) {
    width += widthOf(segment)
    if (width > widthMax) break
    cut += segment
  }
  return `${cut}…`
}

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' })

const oneEach = /^[\u0020-\u007e\u2026]*$/
const marks = /\p{M}/gu
const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]/gu

/** How many columns of a terminal a text takes: characters of East Asian scripts and emoji take two, combining marks none. Pure. */
export function widthOf(text: string): number {
  if (oneEach.test(text)) return text.length
  const shown = text.replace(marks, '')
  return [...shown].length + (shown.match(wide)?.length ?? 0)
}

import type { PresenceState } from '../../../words/presence.ts'
import type { Program } from './programs.ts'
import { type Row, textOf } from './styled-rows.ts'

/** The content of a screen. `text`: the text in the composer, `''` when nothing was typed. */
export type Reading =
  | { readonly kind: 'ready'; readonly text: '' }
  | { readonly kind: 'draft'; readonly text: string }
  | { readonly kind: 'busy' | 'approval'; readonly text?: string }
  | { readonly kind: 'unreadable'; readonly text?: undefined }

/** Where programs draw their composer, and ask their questions. What is above is the conversation. */
const rowsReadMax = 30
/** A composer with more lines is not read. */
const composerRowsMax = 20

/** Where the terminal's cursor stands, from 0. */
export interface Cursor {
  readonly x: number
  readonly y: number
}

/** Reads a screen by the rules of its program. What is not plainly an empty composer is not `ready`. Pure. */
export function readScreen(rows: readonly Row[], cursor: Cursor, program: Program): Reading {
  const end = rows.findLastIndex((row) => textOf(row).trim() !== '') + 1
  const begin = Math.max(0, end - rowsReadMax)
  const shown = rows.slice(begin, end)
  const texts = shown.map(textOf)
  const composer = composerOf(shown, texts, program)
  // The words of a question inside the composer are a draft.
  const around = texts.filter((_, i) => !composer || i < composer.first || i > composer.last)
  const text = composer ? { text: composer.text } : {}
  if (around.some((row) => program.approval.test(row))) return { kind: 'approval', ...text }
  if (around.some((row) => program.busy.test(row))) return { kind: 'busy', ...text }
  if (!composer) return { kind: 'unreadable' }
  if (composer.text !== '') return { kind: 'draft', text: composer.text }
  const isAtStart = cursor.y - begin === composer.first && cursor.x === composer.indent
  return program.hasCursor && !isAtStart ? { kind: 'unreadable' } : { kind: 'ready', text: '' }
}

const states = {
  ready: 'idle',
  draft: 'userTyping',
  busy: 'active',
  approval: 'waitingOnApproval',
  unreadable: 'unknown',
} as const satisfies Record<Reading['kind'], PresenceState>

export const stateOf = ({ kind }: Reading): PresenceState => states[kind]

interface Composer {
  readonly first: number
  readonly last: number
  /** Where its text begins in the first row. */
  readonly indent: number
  readonly text: string
}

/** Returns the content of the composer; undefined where the screen has none that can be read. */
function composerOf(rows: readonly Row[], texts: readonly string[], program: Program): Composer | undefined {
  const { composer, composerBegin, composerEnd, placeholder } = program
  const isFirst = (text: string, i: number): boolean =>
    composer.test(text) && (composerBegin === undefined || (i > 0 && composerBegin.test(texts[i - 1]!)))
  const first = texts.findLastIndex(isFirst)
  if (first < 0) return undefined
  const below = texts.findIndex((text, i) => i > first && composerEnd.test(text))
  const end = below < 0 && !composerBegin ? texts.length : below
  if (end < 0 || end - first > composerRowsMax) return undefined
  const indent = [...composer.exec(texts[first]!)![0]].length
  const lines = rows.slice(first, end).map((row, i) => typedIn(i === 0 ? row.slice(indent) : row, program))
  const text = lines.join(' ').trim()
  return { first, last: end - 1, indent, text: placeholder?.test(text) ? '' : text }
}

/** The typed text of a row: without its frame, without faint text, and without a cursor that is drawn on the first faint character. */
function typedIn(row: Row, { edge }: Program): string {
  const typed = row.filter(({ isDim, isInverse }, i) => !isDim && !(isInverse && row[i + 1]?.isDim))
  const text = textOf(typed)
  return (edge ? text.replace(edge, '') : text).replace(invisible, '').replaceAll('\u00a0', ' ').trim()
}

/** Qwen Code draws its cursor as one. */
const invisible = /\p{Cf}/gu

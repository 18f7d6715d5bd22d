import {
  DocumentError,
  type Format,
  type Piece,
  type Removal,
  spellings,
  takenWords,
  type WrittenPiece,
} from './document.ts'
import { insertJson } from './json/insert.ts'
import { parseJson } from './json/parse.ts'
import { removeJson } from './json/remove.ts'
import { insertToml, parseToml, removeToml } from './toml.ts'

/** A file that is ours as a whole: a program. Its one piece is its text, at the empty path. */
const whole = {
  parse: (text: string): unknown => text,
  /** Errors: the file exists and was not written by us. */
  insert(text: string, piece: Piece): { text: string; written: WrittenPiece } {
    if (text !== '') throw new DocumentError(`The file ${takenWords}`, { line: 1, column: 1 })
    const value = String(piece.value)
    return { text: value, written: { ...piece, text: value, depth: 0 } }
  },
  remove(text: string, written: WrittenPiece): Removal {
    if (text === '') return { outcome: 'gone', text }
    return spellings(written.text).includes(text) ? { outcome: 'removed', text: '' } : { outcome: 'changed', text }
  },
}

/** The formats of the files of harnesses. `json` reads comments and trailing commas too; `whole` is a file that is ours. */
export const formats = {
  json: { parse: parseJson, insert: insertJson, remove: removeJson },
  toml: { parse: parseToml, insert: insertToml, remove: removeToml },
  whole,
} as const satisfies Record<string, Format>

export type FormatName = keyof typeof formats

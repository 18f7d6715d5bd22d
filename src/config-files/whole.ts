import { DocumentError, type Piece, type Removal, spellings, takenWords, type Written } from './document.ts'

/** A file that is ours as a whole: a program. Its one piece is its text, at the empty path. */
export const whole = {
  parse: (text: string): unknown => text,
  /** Errors: the file exists and was not written by us. */
  insert(text: string, piece: Piece): { text: string; written: Written } {
    if (text !== '') throw new DocumentError(`The file ${takenWords}`, { line: 1, column: 1 })
    const value = String(piece.value)
    return { text: value, written: { ...piece, text: value, depth: 0 } }
  },
  remove(text: string, written: Written): Removal {
    if (text === '') return { outcome: 'gone', text }
    return spellings(written.text).includes(text) ? { outcome: 'removed', text: '' } : { outcome: 'changed', text }
  },
}

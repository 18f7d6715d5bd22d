import { parse, stringify, TomlError } from 'smol-toml'
import {
  DocumentError,
  hasPiece,
  type Piece,
  positionOf,
  type Removal,
  sameValue,
  spellings,
  takenWords,
  valueAt,
  type WrittenPiece,
  without,
} from './document.ts'

const heading = '# Written by `rouse install`; `rouse uninstall` removes it.'

/** The value of a TOML text. Errors: see `Format`. */
export function parseToml(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const [first = ''] = error.message.split('\n')
    throw new DocumentError(first.replace(/^Invalid TOML document: /, ''), error)
  }
}

/** Appends a table at the end of the text: there it changes the meaning of no other line. Errors: see `Format`. */
export function insertToml(text: string, piece: Piece): { text: string; written: WrittenPiece } {
  const before = parseToml(text)
  const place = piece.path.join('.')
  if (valueAt(before, piece.path) !== undefined)
    throw new DocumentError(`${place} ${takenWords}`, placeOf(text, piece.path))
  const eol = /\r\n/.test(text.slice(0, text.indexOf('\n') + 1)) ? '\r\n' : '\n'
  const table = stringify(piece.path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), piece.value))
  const gap = text === '' ? '' : /\n$/.test(text) ? eol : eol + eol
  const inserted = gap + `${heading}\n${table}`.replaceAll('\n', eol)
  const changed = text + inserted
  if (!isWith(changed, before, piece)) {
    throw new DocumentError(
      `${piece.path[0]} is written in a way that no table can be added to: write [${place}] yourself`,
      endOf(text),
    )
  }
  return { text: changed, written: { ...piece, text: inserted, depth: 0 } }
}

/** Removes the table, if its lines are still as they were written. Errors: see `Format`. */
export function removeToml(text: string, written: WrittenPiece): Removal {
  const before = parseToml(text)
  if (valueAt(before, written.path) === undefined) return { outcome: 'gone', text }
  const core = written.text.replace(/^[\r\n]+/, '')
  for (const part of [...spellings(written.text), ...spellings(core)]) {
    const cut = without(text, part)
    if (cut !== undefined && isWith(text, tryParse(cut), written)) return { outcome: 'removed', text: cut }
  }
  return { outcome: 'changed', text }
}

/** True when a text has the piece, and beside it exactly what `rest` has. */
function isWith(text: string, rest: unknown, piece: Piece): boolean {
  const document = tryParse(text)
  if (rest === undefined || !hasPiece(document, piece)) return false
  return sameValue(withoutTable(document, piece.path), withoutTable(rest, piece.path))
}

/** A copy without the table, and without what is empty then. */
function withoutTable(document: unknown, [name, ...rest]: readonly string[]): unknown {
  const { [name!]: inner, ...others } = document as Record<string, unknown>
  if (inner === undefined || rest.length === 0) return others
  const kept = withoutTable(inner, rest) as object
  return Object.keys(kept).length === 0 ? others : { ...others, [name!]: kept }
}

function tryParse(text: string): unknown {
  try {
    return parseToml(text)
  } catch {
    return undefined
  }
}

/** Where a table is begun; the end of the text where it is written in another way. */
function placeOf(text: string, path: readonly string[]): { line: number; column: number } {
  const name = path.map((step) => `["']?${step}["']?`).join('\\s*\\.\\s*')
  const at = text.search(new RegExp(`^[ \\t]*\\[\\s*${name}\\s*[.\\]]`, 'm'))
  return at < 0 ? endOf(text) : positionOf(text, at)
}

function endOf(text: string): { line: number; column: number } {
  return { line: text.split('\n').length, column: 1 }
}

import { isDeepStrictEqual } from 'node:util'

/** A value as configuration files hold it. */
export type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value }

/** The piece that a harness needs in one of its files: a property of an object, or an element of an array. Objects and arrays above it are made. */
export interface Piece {
  readonly kind: 'property' | 'element'
  readonly path: readonly string[]
  readonly value: Value
}

/** A piece that was written: its text as it was inserted, and how much of its path was there before. */
export interface WrittenPiece extends Piece {
  readonly text: string
  /** How many steps of the path the file had already. */
  readonly depth: number
}

/** The result of removing a written piece. `changed`: it was changed after it was written, and stays. */
export type Removal =
  | { readonly outcome: 'removed'; readonly text: string }
  | { readonly outcome: 'changed' | 'gone'; readonly text: string }

/** A format of configuration files. All functions are pure; they throw `DocumentError` where the text cannot be dealt with. */
export interface Format {
  /** The value of the whole text; an empty text is an empty object. */
  parse(text: string): unknown
  /** Inserts one piece: one contiguous text, and nothing else changes. */
  insert(text: string, piece: Piece): { text: string; written: WrittenPiece }
  /** Removes a piece that `insert` has written. */
  remove(text: string, written: WrittenPiece): Removal
}

/** A text that is not what its format says, or that has no place for a piece. */
export class DocumentError extends Error {
  /** Line and column, from 1. */
  readonly line: number
  readonly column: number

  constructor(message: string, { line, column }: { line: number; column: number }) {
    super(message)
    this.line = line
    this.column = column
  }
}

/** The refusal for a property that was not written by us. */
export const takenWords = 'is there already, and it is not what rouse install wrote'

/** Line and column of an offset, from 1. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset)
  const lines = before.split('\n')
  return { line: lines.length, column: lines.at(-1)!.length + 1 }
}

/** Returns the value at a path; undefined without it. Only own properties count. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const step of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, step)) return undefined
    found = (found as Record<string, unknown>)[step]
  }
  return found
}

/** True when two values are the same. Parsers differ in the prototypes of their objects, which do not count. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (!isContainer(one) || !isContainer(other)) return isDeepStrictEqual(one, other)
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && sameValue(one[name], other[name]))
  )
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Date)
}

/** True when a document has exactly this piece. */
export function hasPiece(document: unknown, { kind, path, value }: Piece): boolean {
  const found = valueAt(document, path)
  if (kind === 'property') return sameValue(found, value)
  return Array.isArray(found) && found.some((element) => sameValue(element, value))
}

/** The same piece of the same file, whatever it was when it was written. */
export function samePiece(one: Piece, other: Piece): boolean {
  return one.kind === other.kind && sameValue(one.path, other.path) && sameValue(one.value, other.value)
}

/** The texts under which a written one may be found: tools that convert line ends convert all of them. */
export function spellings(text: string): string[] {
  const lines = text.replaceAll('\r\n', '\n')
  return [...new Set([text, lines, lines.replaceAll('\n', '\r\n')])]
}

/** The text without the one place where it has `part`; undefined where it has none, or several. */
export function without(text: string, part: string): string | undefined {
  const at = text.indexOf(part)
  if (at < 0 || text.indexOf(part, at + 1) >= 0) return undefined
  return text.slice(0, at) + text.slice(at + part.length)
}

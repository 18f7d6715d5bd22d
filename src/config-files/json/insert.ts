import { createScanner } from 'jsonc-parser'
import { DocumentError, type Piece, positionOf, takenWords, type Value, type WrittenPiece } from '../document.ts'
import { childrenOf, deepest, endOf, type Node, treeOf } from './tree.ts'

/** A text, and where it goes. */
interface Insertion {
  readonly at: number
  readonly text: string
}

/** Inserts one piece as one contiguous text, in the style of what is around it. Errors: see `Format`. */
export function insertJson(text: string, piece: Piece): { text: string; written: WrittenPiece } {
  const tree = treeOf(text)
  const style = styleOf(text, tree)
  const { insertion, depth } = tree ? into(text, tree, piece, style) : wholeText(text, piece, style)
  const changed = text.slice(0, insertion.at) + insertion.text + text.slice(insertion.at)
  return { text: changed, written: { ...piece, text: insertion.text, depth } }
}

function wholeText(text: string, { kind, path, value }: Piece, style: Style) {
  const start = text === '' || /[\n\ufeff]$/.test(text) ? '' : style.eol
  const whole = nested(path, kind === 'element' ? [value] : value)
  return { insertion: { at: text.length, text: `${start}${valueText(whole, style, '')}${style.eol}` }, depth: 0 }
}

function into(text: string, tree: Node, { kind, path, value }: Piece, style: Style) {
  const { node, depth } = deepest(text, tree, path)
  const isWhole = depth === path.length
  const wanted = isWhole && kind === 'element' ? 'array' : 'object'
  if (node.type !== wanted || (isWhole && kind === 'property')) {
    const place = path.slice(0, depth).join('.')
    const is = isWhole && kind === 'property' ? takenWords : `is no ${wanted}`
    throw new DocumentError(`${place} ${is}`, positionOf(text, node.offset))
  }
  if (isWhole) return { insertion: member(text, node, style, { value }), depth }
  const name = path[depth]!
  const rest = nested(path.slice(depth + 1), kind === 'element' ? [value] : value)
  return { insertion: member(text, node, style, { name, value: rest }), depth }
}

function nested(path: readonly string[], value: Value): Value {
  return path.reduceRight<Value>((inner, name) => ({ [name]: inner }), value)
}

/** One more member of an object or array. Comments stay beside what they were written for, as far as one insertion can do that. */
function member(text: string, container: Node, style: Style, one: { name?: string; value: Value }): Insertion {
  const first = childrenOf(container)[0]
  const last = childrenOf(container).at(-1)
  const base = indentAt(text, container.offset)
  if (!first || !last) return intoEmpty(text, container, style, base, one)
  const isInline = !text.slice(container.offset, last.offset).includes('\n')
  const indent = isInline ? base : indentAt(text, first.offset)
  const own = memberText(one, isInline ? oneLine : style, indent)
  const gap = isInline ? (/^[[{,]\s/.test(text.slice(container.offset)) ? ' ' : '') : style.eol + indent
  const open = container.offset + 1
  const closer = endOf(container) - 1
  const tail = text.slice(endOf(last), closer)
  if (!hasComment(tail)) return { at: endOf(last), text: `,${gap}${own}` }
  // With a trailing comma, or before the first member, a comment keeps its place at the end of its line.
  if (hasTrailingComma(tail)) return { at: endOf(last) + tail.trimEnd().length, text: `${style.eol}${indent}${own},` }
  if (!hasComment(text.slice(open, first.offset))) return { at: open, text: `${gap}${own},` }
  return { at: endOf(last), text: `,${gap}${own}` }
}

function intoEmpty(text: string, container: Node, style: Style, base: string, one: { name?: string; value: Value }) {
  const open = container.offset + 1
  const closer = endOf(container) - 1
  const inside = text.slice(open, closer)
  if (style.oneLine) return { at: closer, text: memberText(one, oneLine, '') }
  const own = `${style.eol}${base}${style.unit}${memberText(one, style, base + style.unit)}`
  const lineEnd = inside.match(/\r?\n[ \t]*$/)?.index
  return lineEnd === undefined ? { at: closer, text: `${own}${style.eol}${base}` } : { at: open + lineEnd, text: own }
}

const oneLine: Style = { eol: '\n', unit: '', oneLine: true }

function memberText({ name, value }: { name?: string; value: Value }, style: Style, indent: string): string {
  const text = style.oneLine ? JSON.stringify(value) : valueText(value, style, indent)
  return name === undefined ? text : `${JSON.stringify(name)}:${style.oneLine ? '' : ' '}${text}`
}

// `SyntaxKind` of jsonc-parser is a const enum, which a module of its own cannot import.
const syntax = { comma: 5, lineComment: 12, blockComment: 13, end: 17 } as const

function hasComment(text: string): boolean {
  return kindsIn(text).some((kind) => kind === syntax.lineComment || kind === syntax.blockComment)
}

function hasTrailingComma(text: string): boolean {
  return kindsIn(text).includes(syntax.comma)
}

function kindsIn(text: string): number[] {
  const scanner = createScanner(text)
  const kinds: number[] = []
  for (let kind: number = scanner.scan(); kind !== syntax.end; kind = scanner.scan()) kinds.push(kind)
  return kinds
}

/** How a file is written: its line ends, one step of its indentation, and whether it is all in one line. */
interface Style {
  readonly eol: '\n' | '\r\n'
  readonly unit: string
  readonly oneLine: boolean
}

/** The style of a text; that of most harnesses where it has none. Pure. */
function styleOf(text: string, tree: Node | undefined): Style {
  const eol = /\r\n/.test(text.slice(0, text.indexOf('\n') + 1)) ? '\r\n' : '\n'
  const first = tree && childrenOf(tree)[0]
  if (!first) return { eol, unit: '  ', oneLine: false }
  const unit = text.slice(0, first.offset).match(/\n([ \t]+)$/)?.[1] ?? '  '
  return { eol, unit, oneLine: !text.slice(tree.offset, tree.offset + tree.length).includes('\n') }
}

/** The white space at the beginning of the line of an offset. */
function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return text.slice(start, offset).match(/^[ \t]*/)![0]
}

/** A value as text; `indent` is that of the line in which it begins. */
function valueText(value: Value, { eol, unit }: Style, indent: string): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + indent)
}

import type { Value } from '../document.ts'
import { childrenOf, type Node } from './tree.ts'

/** How a file is written: its line ends, one step of its indentation, and whether it is all in one line. */
export interface Style {
  readonly eol: '\n' | '\r\n'
  readonly unit: string
  readonly oneLine: boolean
}

/** The style of a text; that of most harnesses where it has none. Pure. */
export function styleOf(text: string, tree: Node | undefined): Style {
  const eol = /\r\n/.test(text.slice(0, text.indexOf('\n') + 1)) ? '\r\n' : '\n'
  const first = tree && childrenOf(tree)[0]
  if (!first) return { eol, unit: '  ', oneLine: false }
  const unit = text.slice(0, first.offset).match(/\n([ \t]+)$/)?.[1] ?? '  '
  return { eol, unit, oneLine: !text.slice(tree.offset, tree.offset + tree.length).includes('\n') }
}

/** The white space at the beginning of the line of an offset. */
export function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return text.slice(start, offset).match(/^[ \t]*/)![0]
}

/** A value as text; `indent` is that of the line in which it begins. */
export function valueText(value: Value, { eol, unit }: Style, indent: string): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', eol + indent)
}

import { getNodeValue } from 'jsonc-parser'
import { hasPiece, type Removal, sameValue, spellings, type WrittenPiece, without } from '../document.ts'
import { parseJson } from './parse.ts'
import { childrenOf, deepest, endOf, type Node, treeOf } from './tree.ts'

/**
 * Removes a written piece. If its text is still in the file, it is cut out, and the rest stays unchanged. If a program has rewritten the
 * file, the piece is found by its place and value. A piece with another value is left. Errors: see `Format`.
 */
export function removeJson(text: string, written: WrittenPiece): Removal {
  const before = parseJson(text)
  for (const spelling of spellings(written.text)) {
    const cut = without(text, spelling)
    if (cut !== undefined && isRid(cut, before, written)) return { outcome: 'removed', text: cut }
  }
  if (!hasPiece(before, written)) return { outcome: wasChanged(before, written) ? 'changed' : 'gone', text }
  const rest = prune(cutValue(text, written), written)
  return isRid(rest, before, written) ? { outcome: 'removed', text: rest } : { outcome: 'changed', text }
}

/** True when a text lacks the piece, and nothing else. */
function isRid(text: string, before: unknown, written: WrittenPiece): boolean {
  try {
    return sameValue(pruned(parseJson(text)), pruned(valueWithout(before, written)))
  } catch {
    return false
  }
}

/** Empty objects and arrays were perhaps made for the piece: they do not count. */
function pruned(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(pruned)
  const entries = Object.entries(value).map(([name, inner]) => [name, pruned(inner)] as const)
  return Object.fromEntries(entries.filter(([, inner]) => !isEmptyContainer(inner)))
}

function isEmptyContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}

function valueWithout(document: unknown, { kind, path, value }: WrittenPiece): unknown {
  const copy = structuredClone(document) as Record<string, unknown>
  const parent = (kind === 'element' ? path : path.slice(0, -1)).reduce<unknown>(
    (inner, step) => (inner as Record<string, unknown> | undefined)?.[step],
    copy,
  )
  if (kind === 'property') delete (parent as Record<string, unknown> | undefined)?.[path.at(-1)!]
  else if (Array.isArray(parent)) {
    const index = parent.findIndex((element) => sameValue(element, value))
    if (index >= 0) parent.splice(index, 1)
  }
  return copy
}

/** True when something is there that the piece has become: a property of its name, or an element with its longest text. */
function wasChanged(document: unknown, { kind, path, value }: WrittenPiece): boolean {
  const found = path.reduce<unknown>((inner, step) => (inner as Record<string, unknown> | undefined)?.[step], document)
  if (kind === 'property') return found !== undefined
  const mark = (JSON.stringify(value).match(/"(?:[^"\\]|\\.)*"/g) ?? []).sort((a, b) => b.length - a.length)[0]
  return Array.isArray(found) && found.some((element) => JSON.stringify(element).includes(mark ?? '\0'))
}

function cutValue(text: string, { kind, path, value }: WrittenPiece): string {
  const { node } = deepest(text, treeOf(text)!, path)
  const one = kind === 'property' ? node.parent! : childrenOf(node).find((x) => sameValue(getNodeValue(x), value))!
  return cutNode(text, one)
}

/** Removes the objects and arrays that were made for a piece, as far as they are empty now. */
function prune(text: string, { kind, path, depth }: WrittenPiece): string {
  const shortest = Math.max(depth, 1)
  let rest = text
  for (
    let length = kind === 'element' ? path.length : path.length - 1;
    length >= shortest && depth < length;
    length -= 1
  ) {
    const { node, depth: reached } = deepest(rest, treeOf(rest)!, path.slice(0, length))
    if (reached < length) continue
    if (childrenOf(node).length > 0 || node.parent === undefined) break
    // It stays if comments were written into it.
    if (rest.slice(node.offset + 1, endOf(node) - 1).trim() !== '') break
    rest = cutNode(rest, node.parent)
  }
  return rest
}

/** A text without one member: with its comma, and its line where nothing else is on it. Comments stay. */
function cutNode(text: string, node: Node): string {
  const after = text.slice(endOf(node)).match(/^\s*,/)?.[0].length
  let rest = text.slice(0, node.offset) + text.slice(endOf(node) + (after ?? 0))
  let at = node.offset
  if (after === undefined) {
    const siblings = childrenOf(node.parent!)
    const before = siblings[siblings.indexOf(node) - 1]
    const comma = before ? commaAfter(rest, endOf(before), at) : -1
    if (comma >= 0) {
      rest = rest.slice(0, comma) + rest.slice(comma + 1)
      at -= 1
    }
  }
  return withoutBlankLine(rest, at)
}

/** The comma between two offsets that is in no comment. */
function commaAfter(text: string, start: number, end: number): number {
  const blanked = text
    .slice(start, end)
    .replace(/\/\*[\s\S]*?\*\/|\/\/[^\r\n]*/g, (comment) => ' '.repeat(comment.length))
  const comma = blanked.indexOf(',')
  return comma < 0 ? -1 : start + comma
}

function withoutBlankLine(text: string, at: number): string {
  const start = text.slice(0, at).match(/\r?\n[ \t]*$/)?.index
  const isBlank = /^[ \t]*(\r?\n|$)/.test(text.slice(at))
  const end = at + text.slice(at).match(/^[ \t]*/)![0].length
  return start !== undefined && isBlank ? text.slice(0, start) + text.slice(end) : text
}

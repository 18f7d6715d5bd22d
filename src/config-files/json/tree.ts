import { type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser'
import { DocumentError, positionOf } from '../document.ts'

export type { Node } from 'jsonc-parser'

/** A byte order mark is no part of JSON, and editors keep it. */
const byteOrderMark = '\ufeff'

/**
 * The tree of a text, with offsets in the text; undefined where it has nothing but white space and comments. Comments and trailing
 * commas are allowed: which harness reads them is the user's matter. Errors: a text that is no JSON, with the place.
 */
export function treeOf(text: string): Node | undefined {
  const errors: ParseError[] = []
  // A space in the place of the mark keeps the offsets.
  const body = text.startsWith(byteOrderMark) ? ` ${text.slice(1)}` : text
  const tree = parsed(body, errors)
  const [error] = errors
  if (error && !(tree === undefined && isEmpty(body))) {
    throw new DocumentError(sentence(printParseErrorCode(error.error)), positionOf(text, error.offset))
  }
  if (tree && tree.type !== 'object') {
    throw new DocumentError('the file is no JSON object', positionOf(text, tree.offset))
  }
  return tree
}

function parsed(body: string, errors: ParseError[]): Node | undefined {
  try {
    return parseTree(body, errors, { allowTrailingComma: true, disallowComments: false })
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new DocumentError('it is nested too deeply', { line: 1, column: 1 })
  }
}

/** True when a text has nothing but white space and comments. */
function isEmpty(body: string): boolean {
  return body.replace(/\/\*[\s\S]*?\*\/|\/\/[^\r\n]*/g, '').trim() === ''
}

/** `PropertyNameExpected` as words: `property name expected`. */
function sentence(code: string): string {
  return code.replace(/(?<!^)[A-Z]/g, (letter) => ` ${letter}`).toLowerCase()
}

/** The value of a property of an object. Errors: a name that is there twice, because programs differ in which one counts. */
function memberOf(text: string, container: Node, name: string): Node | undefined {
  const found = (container.children ?? []).filter((property) => property.children?.[0]?.value === name)
  if (found.length > 1) throw new DocumentError(`"${name}" is there twice`, positionOf(text, found[1]!.offset))
  return found[0]?.children?.[1]
}

/** The deepest node of a path, and how many steps lead to it. A step is the name of a property, or the index of an element. */
export function deepest(text: string, tree: Node, path: readonly string[]): { node: Node; depth: number } {
  let node = tree
  for (const [depth, step] of path.entries()) {
    const next = node.type === 'array' ? childrenOf(node)[Number(step)] : memberOf(text, node, step)
    if (!next) return { node, depth }
    node = next
  }
  return { node, depth: path.length }
}

/** The members of an object or the elements of an array. */
export function childrenOf(container: Node): readonly Node[] {
  return container.children ?? []
}

export function endOf({ offset, length }: Node): number {
  return offset + length
}

import { getNodeValue } from 'jsonc-parser'
import { treeOf } from './tree.ts'

/** The value of a text; an empty one is an empty object. Errors: see `Format`. */
export function parseJson(text: string): unknown {
  const tree = treeOf(text)
  return tree === undefined ? {} : getNodeValue(tree)
}

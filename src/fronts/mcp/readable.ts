import { isJsonObject } from '../../lib/json.ts'

/**
 * JSON as indented lines, `name: value`, for a model that reads text. A text of several lines follows its name, each line after a
 * bar; a name, or a text in a list, that could be read as more than that is quoted. So nothing that others write can pass for a field
 * of the gateway. What is null is left out. Pure.
 */
export function readable(value: unknown): string {
  return linesOf(value).join('\n')
}

function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(itemLines)
  if (!isJsonObject(value)) return textLines(String(value))
  return Object.entries(value).flatMap(([name, field]) => fieldLines(nameShown(name), field))
}

function fieldLines(name: string, value: unknown): string[] {
  if (value === null || value === undefined) return []
  if (isNested(value)) return isEmpty(value) ? [] : [`${name}:`, ...linesOf(value).map(indented)]
  const [first = '', ...more] = textLines(String(value))
  return more.length === 0 && !first.startsWith('|') ? [`${name}: ${first}`] : [`${name}:`, first, ...more]
}

function itemLines(item: unknown): string[] {
  const [first = '', ...more] = linesOf(typeof item === 'string' ? itemShown(item) : item)
  return [`- ${first}`, ...more.map(indented)]
}

/** Others can give a payload fields of any name. */
function nameShown(name: string): string {
  return /^[\p{L}\p{N}_$@./-]{1,100}$/u.test(name) ? name : JSON.stringify(name)
}

/** A text in a list that looks like a field, an item or a bar of this form. */
function itemShown(text: string): string {
  return !text.includes('\n') && /^\s*[-|"]|:(?:\s|$)/.test(text) ? JSON.stringify(text) : text
}

/** One line as it is; of several lines, each begins with a bar. */
function textLines(text: string): string[] {
  if (!text.includes('\n')) return [text]
  return text.split('\n').map((line) => `  | ${line}`)
}

const indented = (line: string): string => `  ${line}`

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function isEmpty(value: unknown): boolean {
  return Object.keys(value as object).length === 0
}

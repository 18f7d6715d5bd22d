import { isJsonObject } from '../../lib/json.ts'

/**
 * JSON as indented lines, `name: value`, for a model that reads text. A text of several lines follows its name, each line behind a
 * bar: so no text can pass for a field of the gateway. What is null is left out. Pure.
 */
export function readable(value: unknown): string {
  return linesOf(value).join('\n')
}

function linesOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(itemLines)
  if (!isJsonObject(value)) return textLines(String(value))
  return Object.entries(value).flatMap(([name, field]) => fieldLines(name, field))
}

function fieldLines(name: string, value: unknown): string[] {
  if (value === null || value === undefined) return []
  if (isNested(value)) return isEmpty(value) ? [] : [`${name}:`, ...linesOf(value).map(indented)]
  const [first = '', ...more] = textLines(String(value))
  return more.length === 0 && !first.startsWith('|') ? [`${name}: ${first}`] : [`${name}:`, first, ...more]
}

function itemLines(item: unknown): string[] {
  const [first = '', ...more] = linesOf(item)
  return [`- ${first}`, ...more.map(indented)]
}

/** One line as it is; several lines each behind a bar. */
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

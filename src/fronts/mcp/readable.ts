import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** The longest text. Deep values with many lines become longer than their JSON. */
const lengthMax = 128_000
const cutNote = '(The rest is cut: ask for less at once, with limit, pageToken or historyLength.)'

/**
 * JSON as indented lines, `name: value`, for a model that reads text. A text of several lines follows its name, each line after a
 * bar; a name, or a text in a list, that could be read as more than that is quoted. So nothing that others write can pass for a field
 * of the gateway. What is null is left out. Pure.
 */
export function readable(value: unknown): string {
  const lines = new Lines()
  write(lines, value, { first: '', more: '' })
  return lines.text
}

/** The text before the first line of a value, and before its further ones. */
interface Margin {
  readonly first: string
  readonly more: string
}

class Lines {
  count = 0
  #left = lengthMax
  readonly #lines: string[] = []

  get isFull(): boolean {
    return this.#left < 0
  }

  get text(): string {
    return this.#lines.join('\n')
  }

  add(line: string): void {
    this.count++
    if (this.isFull) return
    this.#left -= line.length + 1
    this.#lines.push(this.isFull ? cutNote : line)
  }
}

function write(lines: Lines, value: unknown, margin: Margin): void {
  if (Array.isArray(value)) writeItems(lines, value, margin)
  else if (isJsonObject(value)) writeFields(lines, value, margin)
  else writeText(lines, textLines(String(value)), margin)
}

function writeItems(lines: Lines, items: readonly unknown[], { first, more }: Margin): void {
  let start = first
  for (const item of items) {
    if (lines.isFull) return
    const { count } = lines
    write(lines, typeof item === 'string' ? itemShown(item) : item, { first: `${start}- `, more: `${more}  ` })
    if (lines.count === count) lines.add(`${start}- `)
    start = more
  }
}

function writeFields(lines: Lines, fields: JsonObject, { first, more }: Margin): void {
  let start = first
  for (const [name, field] of Object.entries(fields)) {
    if (lines.isFull) return
    const { count } = lines
    writeField(lines, nameShown(name), field, { first: start, more })
    if (lines.count > count) start = more
  }
}

function writeField(lines: Lines, name: string, value: unknown, { first, more }: Margin): void {
  if (value === null || value === undefined || (isNested(value) && isEmpty(value))) return
  const texts = isNested(value) ? [] : textLines(String(value))
  if (texts.length === 1 && !texts[0]!.startsWith('|')) lines.add(`${first}${name}: ${texts[0]}`)
  else {
    lines.add(`${first}${name}:`)
    if (isNested(value)) write(lines, value, { first: `${more}  `, more: `${more}  ` })
    else writeText(lines, texts, { first: more, more })
  }
}

function writeText(lines: Lines, texts: readonly string[], { first, more }: Margin): void {
  let start = first
  for (const text of texts) {
    if (lines.isFull) return
    lines.add(start + text)
    start = more
  }
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

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function isEmpty(value: unknown): boolean {
  return Object.keys(value as object).length === 0
}

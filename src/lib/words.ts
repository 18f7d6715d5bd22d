import { cutText } from './cut-text.ts'
import { codeOf, unseenIn, withoutFormats } from './unseen.ts'

/** True when UTF-8 and both stores can hold the text: no unpaired surrogate and no U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** True when the text is one line that looks the same to a person at a terminal and to a model. */
export function isOneLine(text: string): boolean {
  return unseenIn(text) === undefined
}

/** Returns what to change in a text that `isOneLine` refuses. It does not repeat the text, which may be long and hold any character. */
export function lineFlaw(text: string): string {
  const character = unseenIn(text)
  const remedy = character === undefined ? '' : ` Remove ${codeOf(character)}.`
  return `must be one line of text, without line breaks and without control, bidirectional or other invisible characters.${remedy}`
}

/** Returns the text as one line: controls and line breaks become a space, and other characters that are not seen are left out. */
export function oneLine(text: string): string {
  return isOneLine(text)
    ? text
    : withoutFormats(text.toWellFormed())
        .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
        .trim()
}

/** Returns the first `max` characters of a line, as a line. */
export function cutLine(line: string, max: number): string {
  // A cut may leave a joiner without what it joins.
  return line.length <= max ? line : oneLine(cutText(line, max))
}

/** ASCII without controls but tabs and ends of lines. */
const plain = /^[\t\n -~]*$/

/** Returns text of others as a person and a model both see it: its lines and tabs, without other characters that are not seen. */
export function shownText(text: string): string {
  // Most texts are like this, and ten times as fast.
  if (plain.test(text)) return text
  return withoutFormats(text)
    .replace(/[\u2028\u2029]/g, '\n')
    .replace(/(?![\n\t])\p{Cc}/gu, '')
}

/** Returns the first non-empty line near the beginning of a text, as `oneLine` formats it; empty if there is none. */
export function firstLine(text: string): string {
  for (const line of text.slice(0, 10_000).split(/[\n\r]/)) {
    const said = oneLine(line).trim()
    if (said !== '') return said
  }
  return ''
}

/**
 * Returns the path of the first text that `isStorable` refuses, such as `message.parts[0].text`; a key counts as a text of its
 * object. Undefined: there is none. Does not recurse, so any depth is safe.
 */
export function unstorablePath(value: unknown): string | undefined {
  const open: { value: unknown; path: string }[] = [{ value, path: '' }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, path } = next
    if (typeof value === 'string') {
      if (!isStorable(value)) return path
    } else if (Array.isArray(value)) {
      for (let index = value.length - 1; index >= 0; index--)
        open.push({ value: value[index], path: `${path}[${index}]` })
    } else if (typeof value === 'object' && value !== null) {
      for (const key of Object.keys(value)) {
        if (!isStorable(key)) return path
        open.push({ value: (value as Record<string, unknown>)[key], path: path === '' ? key : `${path}.${key}` })
      }
    }
  }
  return undefined
}

/**
 * Characters that do not belong in one line: controls, line and paragraph separators, bidirectional controls and marks, and tag
 * characters, which no person sees and a model reads. The flags of England, Scotland and Wales are made of tags, and do not fit.
 */
const offLine = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u
const offLineRuns = new RegExp(`${offLine.source}+`, 'gu')

/** Whether UTF-8 and both stores can hold the text: no unpaired surrogate and no U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Whether the text is one line that looks the same to a person at a terminal and to a model. */
export function isOneLine(text: string): boolean {
  return text.isWellFormed() && !offLine.test(text)
}

/** Returns the text as one line: other characters become a space. */
export function oneLine(text: string): string {
  return isOneLine(text) ? text : text.toWellFormed().replace(offLineRuns, ' ').trim()
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

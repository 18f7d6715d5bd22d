/** What has no place in one line: controls, line and paragraph separators, and marks that turn the direction of what follows. */
const offLine = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
const offLineRuns = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu

/** Whether UTF-8 and both stores can carry the text: no half of a surrogate pair and no U+0000. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Whether the text is one line that shows what it says, on a terminal and to a model. */
export function isOneLine(text: string): boolean {
  return text.isWellFormed() && !offLine.test(text)
}

/** The text as one line: what has no place in one becomes a space. */
export function oneLine(text: string): string {
  return isOneLine(text) ? text : text.toWellFormed().replace(offLineRuns, ' ').trim()
}

/** The first line of a text that says something, as `oneLine` has it; empty when none near its beginning does. */
export function firstLine(text: string): string {
  for (const line of text.slice(0, 10_000).split(/[\n\r]/)) {
    const said = oneLine(line).trim()
    if (said !== '') return said
  }
  return ''
}

/**
 * Where the first text is that `isStorable` refuses, as a path such as `message.parts[0].text`; a key counts as a text of its
 * object. Undefined: there is none. Without recursion, so that depth does not matter.
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

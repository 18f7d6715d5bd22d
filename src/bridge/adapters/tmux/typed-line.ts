/** What tmux takes at a time. */
const chunkBytesMax = 512

/**
 * Returns a text as it is typed: one line, in which no program finds a command of its own. `@` would attach a file. Marks that join
 * other characters go: what is typed can be taken back a character at a time. Pure.
 */
export function typedLine(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .normalize('NFC')
    .replace(/[\p{C}\p{M}\u{1f1e6}-\u{1f1ff}]/gu, '')
    .replaceAll('@', '＠')
    .replaceAll("'", '’')
    .trim()
}

/** Cuts a line into pieces of at most 512 bytes, between characters. Pure. */
export function chunksOf(line: string): string[] {
  const chunks: string[] = []
  let chunk = ''
  let bytes = 0
  for (const char of line) {
    const length = Buffer.byteLength(char)
    if (bytes + length > chunkBytesMax) {
      chunks.push(chunk)
      chunk = ''
      bytes = 0
    }
    chunk += char
    bytes += length
  }
  return chunk === '' ? chunks : [...chunks, chunk]
}

export const lengthOf = (line: string): number => [...line].length

/** Where a line that was typed stands in a composer. `begun`: some of it, or nothing yet. `behind`: after a draft. */
type Place = { readonly kind: 'alone' | 'begun' | 'mixed' } | { readonly kind: 'behind'; readonly draft: string }

/** Finds a line in what a composer shows. A composer wraps, so white space is not compared; of a long text it may show the end alone. Pure. */
export function placeOf(composer: string, line: string): Place {
  const shown = squeeze(composer)
  const typed = squeeze(line)
  if (shown === typed || (shown.length >= shownEndMin && typed.endsWith(shown))) return { kind: 'alone' }
  if (typed.startsWith(shown)) return { kind: 'begun' }
  return shown.endsWith(typed) ? { kind: 'behind', draft: shown.slice(0, -typed.length) } : { kind: 'mixed' }
}

/** Whether a line, or its end, stands in what a composer shows. Pure. */
export function holds(composer: string, line: string): boolean {
  return squeeze(composer).includes(squeeze(line).slice(-endMin))
}

/** An end of a text that is shorter might be something else. */
const shownEndMin = 200
const endMin = 40

export const squeeze = (text: string): string => text.replace(/\s+/gu, '')

/** The most bytes that tmux accepts at a time. */
const chunkBytesMax = 512

/**
 * Returns a text as it is typed: one line without anything that a program would take for a command (`@` would attach a file), and
 * without combining marks, so that it can be deleted one character at a time. What is left may read `[Rouse …]` only where the text begins:
 * a hook takes that for the proof of a wake. Pure.
 */
export function typedLine(text: string): string {
  return text
    .replace(/\s+/gu, ' ')
    .normalize('NFC')
    .replace(/[\p{C}\p{M}\u{1f1e6}-\u{1f1ff}]/gu, '')
    .replaceAll('@', '＠')
    .replaceAll("'", '’')
    .trim()
    .replace(/(?!^)\[(?=\s*rouse)/gi, '(')
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

/** How a composer shows a line that was typed. `begun`: only its beginning, or nothing yet. `afterDraft`: after text of the user. */
type Place = { readonly kind: 'alone' | 'begun' | 'mixed' } | { readonly kind: 'afterDraft'; readonly draft: string }

/** Finds a line in the text of a composer. A composer wraps, so white space is ignored; it may show only the end of a long text. Pure. */
export function placeOf(composer: string, line: string): Place {
  const shown = squeeze(composer)
  const typed = squeeze(line)
  if (shown === typed || (shown.length >= shownEndMin && typed.endsWith(shown))) return { kind: 'alone' }
  if (typed.startsWith(shown)) return { kind: 'begun' }
  return shown.endsWith(typed) ? { kind: 'afterDraft', draft: shown.slice(0, -typed.length) } : { kind: 'mixed' }
}

/** True when a composer shows a line, or the end of it. Pure. */
export function holds(composer: string, line: string): boolean {
  return squeeze(composer).includes(squeeze(line).slice(-endMin))
}

/** A shorter end of a text might belong to another text. */
const shownEndMin = 200
const endMin = 40

export const squeeze = (text: string): string => text.replace(/\s+/gu, '')

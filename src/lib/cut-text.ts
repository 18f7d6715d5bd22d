/** Returns the first `max` characters of a text, by code points: a surrogate pair is kept whole or left out. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  // A code point has at most two units, so this prefix is enough, and a pair that it cuts is beyond the end.
  return Array.from(text.slice(0, max * 2))
    .slice(0, max)
    .join('')
}

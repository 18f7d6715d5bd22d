/** The first `max` characters of a text, by code points: what is outside the BMP stays whole or goes whole. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text
  // No code point is longer than two units, so nothing behind this is needed, and what it cuts in two is behind the end.
  return Array.from(text.slice(0, max * 2))
    .slice(0, max)
    .join('')
}

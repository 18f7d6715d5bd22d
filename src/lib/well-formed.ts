/** The text with U+FFFD in the place of each half of a surrogate pair: what UTF-8 can carry. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

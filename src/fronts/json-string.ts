/** The bytes of a quote and a backslash. */
export const quote = 0x22
export const backslash = 0x5c

/** Up to so many bytes of a text are looked at one by one: a call that looks for a quote costs as much. */
const shortString = 64

/** Returns the index of the quote that ends the string at `start`, or the length of the text if the string does not end. */
export function endOfString(text: Buffer, start: number): number {
  for (let at = start + 1; at < text.length; ) {
    const near = Math.min(at + shortString, text.length)
    for (; at < near; at++) {
      if (text[at] === quote) return at
      if (text[at] === backslash) at++
    }
    const end = text.indexOf(quote, at)
    if (end < 0) return text.length
    let escapes = end
    while (escapes > at && text[escapes - 1] === backslash) escapes--
    if ((end - escapes) % 2 === 0) return end
    at = end + 1
  }
  return text.length
}

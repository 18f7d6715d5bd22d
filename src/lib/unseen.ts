/**
 * The characters that a person does not see, or that change how others are read, and that a model reads all the same. A run of them can
 * carry any bytes. This file alone says which they are.
 */

/** Characters without a shape of their own: bidirectional controls, joiners, fillers, variation selectors, tags, half surrogate pairs. */
const formats = String.raw`\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}`
/** Formats with a shape: the signs before Arabic, Syriac and Kaithi numbers, and the end of a verse. */
const shapes = String.raw`\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}`
const format = `(?![${shapes}])[${formats}]`
const seen = String.raw`(?![\s\p{Cc}])(?!${format})[^]`

/** Scripts whose spelling needs joiners and non-joiners. Their marks without a script of their own are the Arabic ones. */
const scripts = [
  'Arabic',
  'Bengali',
  'Devanagari',
  'Gujarati',
  'Gurmukhi',
  'Kannada',
  'Khmer',
  'Malayalam',
  'Mongolian',
  'Myanmar',
  'Nko',
  'Oriya',
  'Sinhala',
  'Syriac',
  'Tamil',
  'Telugu',
]
const joined = String.raw`(?!${format})[\u0640\u064b-\u0655\u0670${scripts.map((one) => `\\p{Script=${one}}`).join('')}]`
const joiner = String.raw`[\u200c\u200d]`
const picture = String.raw`[\p{Extended_Pictographic}\p{Emoji_Modifier}]`

/** Characters that people type. Each has a character of its own that is seen before it, so that no two of them are neighbours but the last two. */
const typed = [
  // Between characters of which one is of these scripts: `می‌خواهم`, `PDF‌ها`, `ක්‍ෂ`.
  `(?<=${joined})${joiner}(?=${seen})`,
  `(?<=${seen})${joiner}(?=${joined})`,
  // After a mark, also at the end of a word: `അവന്‍`.
  String.raw`(?<=(?=\p{M})${joined})${joiner}`,
  // How a pictograph looks, and keycaps: `❤️`, `1️⃣`.
  String.raw`(?<=${picture})[\ufe0e\ufe0f]`,
  String.raw`(?<=[#*0-9])\ufe0f(?=\u20e3)`,
  // Pictographs that are made of others: `👩‍🚀`, `🏳️‍🌈`.
  String.raw`(?<=${picture}\ufe0f?)\u200d(?=\p{Extended_Pictographic})`,
]
// The first part is cheap, and decides for nearly all characters.
const untyped = `(?=[${formats}])(?!${typed.join('|')})${format}`

const unseenFormat = new RegExp(untyped, 'gu')
const unseen = new RegExp(String.raw`[\p{Cc}\u2028\u2029]|${untyped}`, 'u')
const everyUnseen = new RegExp(unseen, 'gu')
/** Nearly all one-line texts. It takes a sixth of the time. */
const printableAscii = /^[ -~]*$/

/** Returns the first unseen character of a text, controls and line breaks included. Pure. */
export function unseenIn(text: string): string | undefined {
  return printableAscii.test(text) ? undefined : unseen.exec(text)?.[0]
}

/** Returns the text without unseen characters. Controls and line breaks stay. Pure. */
export function withoutFormats(text: string): string {
  return text.replace(unseenFormat, '')
}

/** Returns the text with something else for each unseen character, controls and line breaks included. Pure. */
export function replaceUnseen(text: string, by: (character: string) => string): string {
  return text.replace(everyUnseen, by)
}

/** How people write a character that is not seen: `U+200B`. Pure. */
export function codeOf(character: string): string {
  return `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`
}

/** An escape for a character in a line of a log. Pure. */
export function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`
}

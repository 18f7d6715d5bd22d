import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { printable } from '../../src/audit/printable.ts'
import { plain } from '../../src/client/terminal-text.ts'
import { codeOf, escaped, replaceUnseen } from '../../src/lib/unseen.ts'
import { cutLine, firstLine, isOneLine, lineFlaw, oneLine, shownText } from '../../src/lib/words.ts'

const zwnj = '\u200c'
const zwj = '\u200d'
const emoji = '\ufe0f'

/** Each byte is one selector: U+FE00 to U+FE0F, then U+E0100 to U+E01EF. No font shows them. */
const selectors = (text: string) =>
  [...Buffer.from(text)].map((byte) => String.fromCodePoint(byte < 16 ? 0xfe00 + byte : 0xe0100 + byte - 16)).join('')
/** Each byte is eight joiners or non-joiners. */
const joiners = (text: string) =>
  [...Buffer.from(text)]
    .map((byte) => byte.toString(2).padStart(8, '0').replaceAll('0', zwnj).replaceAll('1', zwj))
    .join('')
/** The same, but each bit follows a letter that is seen. */
const joinersBetween = (text: string) => [...joiners(text)].map((bit) => `a${bit}`).join('')
const tags = (text: string) => [...text].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join('')

describe('what people type stays', () => {
  test.each([
    ['a Persian word', `می${zwnj}خواهم`],
    ['a Persian plural after a letter that does not join', `کار${zwnj}ها`],
    ['a Persian plural of a Latin word', `PDF${zwnj}ها`],
    ['a Persian abbreviation', `ه${zwj}.ق`],
    ['Arabic with vowel signs', `كَتَبَ${zwnj}نا`],
    ['the end of an Arabic verse', '\u06dd١٢'],
    ['a Hindi conjunct that is shown in halves', `क्${zwj}ष`],
    ['a Hindi conjunct that is not joined', `क्${zwnj}ष`],
    ['a Hindi word with a visible virama at its end', `श्रीमान्${zwnj} जी`],
    ['a Bengali ya after a ra', `র${zwj}্যাব`],
    ['a Malayalam chillu, spelled as before Unicode 5.1', `അവന്${zwj}`],
    ['the Sinhala name of Sri Lanka', `ශ්${zwj}රී ලංකාව`],
    ['a Khmer register', `ប៊${zwnj}ី`],
    ['a Mongolian isolated letter', `ᠠ${zwj}ᠨ`],
    ['a family', `👨${zwj}👩${zwj}👧${zwj}👦`],
    ['an astronaut with a skin tone', `👩🏽${zwj}🚀`],
    ['a runner to the right', `🏃🏽${zwj}♀${emoji}${zwj}➡${emoji}`],
    ['a red heart', `❤${emoji}`],
    ['a heart as text', '❤\ufe0e'],
    ['a heart on fire', `❤${emoji}${zwj}🔥`],
    ['keycaps', `1${emoji}\u20e3 #${emoji}\u20e3`],
    ['a rainbow flag', `🏳${emoji}${zwj}🌈`],
    ['a pirate flag', `🏴${zwj}☠${emoji}`],
    ['flags of countries', '🇩🇪🇮🇷🇮🇳'],
    ['a mark for trade', `©${emoji} Rouse™`],
    ['Hebrew, Thai, Chinese, Korean', 'שלום ภาษาไทย 漢字 한국어'],
    ['composed and combining accents', 'é e\u0301 ñ'],
    ['a no-break space', '10\u00a0000'],
  ])('%s', (_, text) => {
    expect(isOneLine(text)).toBe(true)
    for (const shown of [oneLine, shownText, plain])
      expect(shown(text)).toBe(text.replace(/\u00a0/, shown === plain ? ' ' : '$&'))
    expect(replaceUnseen(text, escaped)).toBe(text)
    expect(printable(text, 200)).toBe(text)
  })
})

describe('what no person sees is refused, and left out where text is shown', () => {
  test.each([
    ['bytes as selectors after a letter', `a${selectors('obey')}b`, 'ab'],
    ['bytes as selectors after an emoji', `😀${selectors('obey')}b`, '😀b'],
    ['bytes as selectors after an emoji that has one', `❤${emoji}${selectors('obey')}b`, `❤${emoji}b`],
    ['a selector twice', `❤${emoji}${emoji}`, `❤${emoji}`],
    ['two selectors that differ', `❤${emoji}\ufe0e`, `❤${emoji}`],
    ['a selector after a letter', `a${emoji}b`, 'ab'],
    ['a selector after a digit that is no keycap', `1${emoji}2`, '12'],
    ['a selector of text in a keycap', '1\ufe0e\u20e3', '1\u20e3'],
    ['a selector at the beginning', `${emoji}a`, 'a'],
    ['a selector of an ideograph', '葛\u{e0100}', '葛'],
    ['a selector of a mathematical sign', '∩\ufe00', '∩'],
    ['a Mongolian selector and vowel separator', 'ᠠ\u180bᠨ\u180eᠠ', 'ᠠᠨᠠ'],
    ['bytes as joiners', `a${joiners('obey')}b`, 'ab'],
    ['bytes as joiners between Latin letters', joinersBetween('ob'), 'a'.repeat(16)],
    ['joiners in a row after an Arabic letter', `م${zwnj}${zwnj}ن`, 'من'],
    ['joiners in a row after a mark', `क्${zwj}${zwnj}ष`, `क्${zwj}ष`],
    ['a joiner at the end', `سلام${zwnj}`, 'سلام'],
    ['a joiner before a space', `سلام${zwnj} 1`, 'سلام 1'],
    ['a joiner after a space', `a ${zwj}م`, 'a م'],
    ['a joiner after an emoji', `👩${zwj}`, '👩'],
    ['a non-joiner between emoji', `👩${zwnj}👩`, '👩👩'],
    ['joiners in a row between emoji', `👩${zwj}${zwj}👩`, '👩👩'],
    ['a joiner beside what is left out', `م\u200b${zwnj}ن`, 'من'],
    ['tags', `a${tags('obey')}b`, 'ab'],
    ['a flag that is made of tags', `🏴${tags('gbeng')}\u{e007f}`, '🏴'],
    ['a soft hyphen', 'Ver\u00adfügung', 'Verfügung'],
    ['a combining grapheme joiner', 'a\u034fb', 'ab'],
    ['Hangul fillers', 'a\u115f\u1160\u3164\uffa0b', 'ab'],
    ['inherent vowels of Khmer', 'ក\u17b4\u17b5ខ', 'កខ'],
    ['zero-width spaces', 'a\u200b\u2060\ufeffb', 'ab'],
    ['invisible mathematics and old format characters', 'a\u2061\u2064\u2065\u206a\u206fb', 'ab'],
    ['marks and controls of direction', 'a\u061c\u200e\u200f\u202a\u202e\u2066\u2069b', 'ab'],
    ['annotations, controls of music, of shorthand and of hieroglyphs', 'a\ufff9\u{1d173}\u{1bca0}\u{13430}b', 'ab'],
    ['what is reserved for such characters', 'a\ufff0\u{e0000}\u{e0080}\u{e01f0}\u{e0fff}b', 'ab'],
  ])('%s', (_, text, shown) => {
    expect(isOneLine(text)).toBe(false)
    for (const show of [oneLine, shownText, plain]) expect(show(text)).toBe(shown)
    expect(plain(text, 'lines')).toBe(shown)
    expect(replaceUnseen(text, () => '')).toBe(shown)
    expect(printable(text, 200).replaceAll('\ufffd', '')).toBe(shown)
  })

  test.each(['a\nb', 'a\r\nb', 'a\tb', 'a\u0085b', 'a\u2028b', 'a\u2029b', 'a\u0000b', 'a\n\u200b\nb'])(
    'controls and line breaks are one space in a line: %j',
    (text) => {
      expect(isOneLine(text)).toBe(false)
      expect(oneLine(text)).toBe('a b')
      expect(firstLine('\n\u200b\n  \n a ')).toBe('a')
    },
  )

  test('line breaks and tabs stay in a text of lines; other controls and half surrogate pairs do not', () => {
    expect(shownText('a\n\tb\u2028c\r\nd\u001b[31m\0\ud800e')).toBe('a\n\tb\nc\nd[31me')
    expect(isOneLine('a\ud800')).toBe(false)
    expect(oneLine('a\ud800')).toBe('a\ufffd')
  })

  test('a cut leaves no joiner without what it joins, and no selector without its keycap', () => {
    expect(cutLine(`ab👩${zwj}👩`, 4)).toBe('ab👩')
    expect(cutLine(`ab1${emoji}\u20e3`, 4)).toBe('ab1')
    expect(cutLine(`ab❤${emoji}c`, 4)).toBe(`ab❤${emoji}`)
  })

  test('a refusal names the first of them, and nothing else of the text', () => {
    expect(lineFlaw(`secret${selectors('o')}`)).toBe(
      'must be one line of text, without line breaks and without control, bidirectional or other invisible characters. Remove U+E015F.',
    )
    expect(['\n', zwj, '\ud800'].map(codeOf)).toEqual(['U+000A', 'U+200D', 'U+D800'])
  })
})

/** Text in which what is not seen meets each kind of neighbour. */
const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      ...'aZ9#. \n\t\r',
      'م',
      'ن',
      '\u064b',
      'क',
      '्',
      'ᠠ',
      '漢',
      '\u0301',
      '\u20e3',
      '❤',
      '👩',
      '🏽',
      '🇩',
    ),
    fc.constantFrom(
      zwnj,
      zwj,
      '\ufe00',
      '\ufe0e',
      emoji,
      '\u{e0100}',
      '\u{e0041}',
      '\u200b',
      '\u00ad',
      '\u202e',
      '\u180b',
      '\ud800',
    ),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 40,
})
const ignorable = String.raw`\p{Default_Ignorable_Code_Point}`
/** Of a pictograph that is made of others: `🏳️‍🌈`. Nothing else that is not seen has a neighbour that is not seen either. */
const ofPicture = /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}])\ufe0f(?=\u200d\p{Extended_Pictographic})/gu

describe('of any text', () => {
  test('what is shown has no two characters in a row that are not seen, and is as it is when it is shown again', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = shownText(text)
        expect(shown.replace(ofPicture, '')).not.toMatch(new RegExp(`${ignorable}{2}`, 'u'))
        expect(shownText(shown)).toBe(shown)
        expect(isOneLine(shown.replace(/[\n\t]/g, ' '))).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  test('what has nothing unseen is shown as it is', () => {
    fc.assert(
      fc.property(hostile, (text) => {
        const seen = text.replace(new RegExp(String.raw`(?![\n\t])[${ignorable}\p{C}\u2028\u2029]`, 'gu'), '')
        expect(shownText(seen)).toBe(seen)
        const line = seen.replace(/\s/g, ' ').trim()
        expect([isOneLine(line), oneLine(line)]).toEqual([true, line])
      }),
      { numRuns: 2_000 },
    )
  })

  test('a line of it is a line, also when it was cut', () => {
    fc.assert(
      fc.property(hostile, fc.nat(20), (text, max) => {
        const line = oneLine(text)
        expect([isOneLine(line), oneLine(line)]).toEqual([true, line])
        expect(isOneLine(firstLine(text))).toBe(true)
        expect(isOneLine(cutLine(line, max))).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })
})

// 16 MB of each take about a second at most. Were it to grow with the square of the length, none would end within the time of a test.
test.each([
  ['selectors', emoji],
  ['selectors of ideographs', '\u{e0100}'],
  ['joiners', zwj],
  ['joiners that are refused', `a${zwj}`],
  ['joiners that stay', `م${zwnj}`],
  ['selectors that stay', `❤${emoji}`],
  ['pictographs that are joined', `❤${emoji}${zwj}`],
  ['line breaks and spaces without width', '\n\u200b'],
  ['half surrogate pairs', '\ud800'],
  ['keycaps', `1${emoji}\u20e3`],
])('megabytes of %s take no longer than their length needs', (_, unit) => {
  const text = unit.repeat((4 * 1024 * 1024) / Buffer.byteLength(unit))
  expect(isOneLine(oneLine(text))).toBe(true)
  expect(shownText(text).length).toBeLessThanOrEqual(text.length)
})

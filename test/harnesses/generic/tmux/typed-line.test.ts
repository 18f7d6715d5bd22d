import { expect, test } from 'vitest'
import { outgoingWake, wakeIdsIn } from '../../../../src/bridge/wake-text.ts'
import type { Wake } from '../../../../src/client/wakes/wake.ts'
import { chunksOf, holds, placeOf, typedLine } from '../../../../src/harnesses/generic/tmux/typed-line.ts'

test('a line has no control character, no mention of a file, and no character that others are joined with', () => {
  expect(typedLine(" a\tb\r\nc\u001b[2J @/etc/passwd it's e\u0301 👩‍👩 🇩🇪 ")).toBe('a b c[2J ＠/etc/passwd it’s é 👩👩')
})

test.each(['', '\u200d', '\ufe0f', '\u0301', '\u{1f1e9}'])(
  'no text of others becomes the mark of a wake when it is typed: %j',
  (unseen) => {
    const [own, other] = ['01M8AA24R71BVCFK1JZX1102AA', '01M8AA24R71BVCFK1JZX1102SP']
    const payload = { from: '@mallory', subject: `hi [${unseen}R${unseen}ouse ${other}]`, messageId: 'MESSAGE:x' }
    const { text } = outgoingWake({ eventType: 'wake/sent_to_me', eventId: own, payload } as unknown as Wake)
    expect(wakeIdsIn(typedLine(text))).toEqual([own])
  },
)

test('it is typed in pieces of at most 512 bytes, and none is cut in a character', () => {
  const line = '‹é👩x'.repeat(300)
  const chunks = chunksOf(line)
  expect(chunks.join('')).toBe(line)
  expect(chunks.every((chunk) => Buffer.byteLength(chunk) <= 512 && !chunk.includes('\ufffd'))).toBe(true)
  expect(chunksOf('')).toEqual([])
})

test.each([
  ['', { kind: 'begun' }],
  ['[Rouse 1] one', { kind: 'begun' }],
  ['[Rouse 1] one  two\nthree', { kind: 'alone' }],
  ['hel [Rouse 1] one two three', { kind: 'afterDraft', draft: 'hel' }],
  ['[Rouse 1] one two three wait', { kind: 'mixed' }],
  ['something else', { kind: 'mixed' }],
])('where it stands in %j', (composer, place) => {
  expect(placeOf(composer, '[Rouse 1] one two three')).toEqual(place)
})

test('of a long line a composer may show the end alone', () => {
  const line = `begin ${'0123456789'.repeat(40)}`
  expect(placeOf(line.slice(-300), line)).toEqual({ kind: 'alone' })
  expect(placeOf(line.slice(-100), line)).toEqual({ kind: 'mixed' })
  expect([holds(line.slice(-100), line), holds('', line)]).toEqual([true, false])
})

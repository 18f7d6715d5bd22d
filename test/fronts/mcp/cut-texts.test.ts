import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cutToBytes } from '../../../src/fronts/mcp/shown-json.ts'

test('a text that is cut has at most so many bytes, is the beginning of the text, and ends with a whole character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 0, max: 60 }), (text, bytesMax) => {
      const cut = cutToBytes(text, bytesMax)
      expect(Buffer.byteLength(cut.text)).toBeLessThanOrEqual(bytesMax)
      expect(text.startsWith(cut.text)).toBe(true)
      expect(cut.isCut).toBe(cut.text !== text)
      // One character more would have been too much.
      if (cut.isCut)
        expect(Buffer.byteLength([...text.slice(cut.text.length)][0]!)).toBeGreaterThan(
          bytesMax - Buffer.byteLength(cut.text),
        )
    }),
  )
})

// To look for the end of each run of them again and again took nine seconds.
test('a text of replacement characters is cut as fast as any other', () => {
  const text = `${'\ufffd'.repeat(300_000)}a`.repeat(3)
  expect(cutToBytes(text, 2_000_000).text).toBe(text.slice(0, cutToBytes(text, 2_000_000).text.length))
})

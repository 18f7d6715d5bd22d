import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseInSlices } from '../../src/lib/parse-in-slices.ts'
import { sliceBytes } from '../../src/lib/pauses.ts'
import { Iterations } from '../support/iterations.ts'

const quote = Buffer.from('"')
/** Bytes in a JSON text that are no structure of it, valid UTF-8 or not. */
const byte = fc.oneof(fc.integer({ min: 0x80, max: 0xff }), fc.integer({ min: 0x61, max: 0x7a }))

test('any bytes around the end of a slice are read as in the whole text', async () => {
  const run = async (found: number[], shift: number) => {
    const bytes = Buffer.concat([quote, Buffer.alloc(sliceBytes - shift, 'x'), Buffer.from(found), quote])
    expect(await parseInSlices(bytes, '')).toBe(JSON.parse(bytes.toString()))
  }
  const around = fc.array(byte, { maxLength: 20 })
  await fc.assert(fc.asyncProperty(around, fc.integer({ min: 0, max: 20 }), run), { numRuns: 60 })
  for (let shift = 0; shift < 8; shift++) await run([...Buffer.from('é😀ж')], shift)
})

test('a large text takes several iterations of the event loop, and what is not JSON is refused', async () => {
  using iterations = new Iterations()
  const text = JSON.stringify({ text: 'é'.repeat(4 * sliceBytes) })
  expect(await parseInSlices(Buffer.from(text), '')).toEqual(JSON.parse(text))
  expect(iterations.count).toBeGreaterThanOrEqual(8)
  await expect(parseInSlices(Buffer.from(text.slice(0, -1)), '')).rejects.toThrow(SyntaxError)
})

test('a large text of ASCII is parsed in another iteration than it is decoded', async () => {
  using iterations = new Iterations()
  const text = JSON.stringify({ text: 'x'.repeat(4 * sliceBytes) })
  expect(await parseInSlices(Buffer.from(text), '')).toEqual(JSON.parse(text))
  expect(iterations.count).toBeGreaterThanOrEqual(1)
  await expect(parseInSlices(Buffer.from(text.slice(0, -1)), '')).rejects.toThrow(SyntaxError)
})

import { expect, test } from 'vitest'
import type { Io } from '../../src/client/io.ts'
import { createPrinter } from '../../src/client/printer.ts'

test('JSON for programs has the same value, and no control that a terminal obeys', () => {
  const printed: string[] = []
  const io = { stdout: (text: string) => void printed.push(text), stderr() {} } as unknown as Io
  const value = { body: 'a\u009b31m b\u009d0;title\u009c \u202e \u2066 \u007f \u001b[2J é 👩‍👩' }
  const printer = createPrinter(io, true)
  printer.result(value, () => '')
  printer.item(value, () => '')
  expect(printed.map((text) => JSON.parse(text))).toEqual([value, value])
  for (const text of printed) expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e\u2066]/u)
})

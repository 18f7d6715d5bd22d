import fc from 'fast-check'
import { decodeTime } from 'ulid'
import { expect, test } from 'vitest'
import { derivedUlid, messageIdFloor, newMessageId, newUlid, newUuid } from '../../src/lib/ids.ts'

const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })
const sequence = fc.integer({ min: 0, max: 0xffff })
const parts = fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 4 })

test('a derived id is a ULID of its time, the same whenever it is derived', () => {
  fc.assert(
    fc.property(time, sequence, parts, (at, n, names) => {
      const id = derivedUlid(at, n, ...names)
      expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/)
      expect(decodeTime(id)).toBe(at)
      expect(derivedUlid(at, n, ...names)).toBe(id)
    }),
  )
})

test('derived ids sort by time, then by sequence', () => {
  fc.assert(
    fc.property(time, sequence, time, sequence, parts, (at1, n1, at2, n2, names) => {
      const order = at1 - at2 || n1 - n2
      const [a, b] = [derivedUlid(at1, n1, ...names), derivedUlid(at2, n2, ...names)]
      if (order !== 0) expect(a < b).toBe(order < 0)
    }),
  )
})

test('other parts make other ids', () => {
  expect(derivedUlid(1, 1, 'a', 'b')).not.toBe(derivedUlid(1, 1, 'ab'))
  expect(derivedUlid(1, 1, 'a')).not.toBe(derivedUlid(1, 1, 'b'))
  expect(decodeTime(newUlid(1_234))).toBe(1_234)
})

test('a new UUID is of version 7 and sorts by the time it was made', () => {
  fc.assert(
    fc.property(time, time, (a, b) => {
      const [first, second] = [newUuid(a), newUuid(b)]
      expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      if (a !== b) expect(first < second).toBe(a < b)
    }),
  )
})

test('message ids sort in the order in which they were made, also within one millisecond, and after the smallest id of their time', () => {
  fc.assert(
    fc.property(time, fc.integer({ min: 1, max: 300 }), (at, count) => {
      const ids = Array.from({ length: count }, () => newMessageId(at))
      expect(ids).toEqual([...new Set(ids)].sort())
      expect(ids[0]).toMatch(/^MESSAGE:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      expect(messageIdFloor(at) < ids[0]!).toBe(true)
      if (at > 0) expect(newMessageId(at - 1) < messageIdFloor(at)).toBe(true)
    }),
  )
})

import { expect, test } from 'vitest'
import { Turns } from '../../src/lib/turns.ts'

/** Takes pieces, each of which takes as long as its name says: `a5`. A caller with work in `then` goes on after each of its pieces. */
function order(turns: Turns<string>, then: Record<string, number> = {}): string[] {
  const taken: string[] = []
  for (let item = turns.take(); item !== undefined; item = turns.take()) {
    taken.push(item)
    const by = item[0]!
    if ((then[by] ?? 0) > 0) {
      then[by] = then[by]! - 1
      turns.add(by, item)
    }
    turns.count(Number(item.slice(1)))
  }
  return taken
}

test('callers have equal pieces in turn, however many of them one has', () => {
  const turns = new Turns<string>()
  for (let n = 0; n < 8; n++) turns.add('a', 'a2')
  turns.add('b', 'b2')
  expect(order(turns, { b: 2 }).join(' ')).toBe('a2 b2 a2 b2 a2 b2 a2 a2 a2 a2 a2')
})

test('short pieces of one caller do not wait for a long piece of another each time', () => {
  const turns = new Turns<string>()
  for (let n = 0; n < 3; n++) turns.add('a', 'a10')
  turns.add('b', 'b2')
  expect(order(turns, { b: 9 }).join(' ')).toBe('a10 b2 b2 b2 b2 b2 a10 b2 b2 b2 b2 b2 a10')
})

test('who comes later has no claim on what was done before, and everything is forgotten when nothing waits', () => {
  const turns = new Turns<string>()
  for (let n = 0; n < 4; n++) turns.add('a', 'a10')
  expect([turns.take(), turns.count(10), turns.take(), turns.count(10)]).toEqual(['a10', undefined, 'a10', undefined])
  turns.add('c', 'c10')
  expect(order(turns, { c: 2 }).join(' ')).toBe('c10 a10 c10 a10 c10')
  turns.add('a', 'a1')
  turns.add('b', 'b1')
  expect(order(turns).join(' ')).toBe('a1 b1')
})

import { expect, test } from 'vitest'
import { keptWakes, positionId, positionOf } from '../../../../src/fronts/mcp/http/stream-position.ts'

const max = 50
const named = (count: number) => new Map(Array.from({ length: count }, (_, at): [string, number] => [`name${at}`, at]))

test('a position names no more subscriptions than a stream reads: all that are read, and of the others the last', () => {
  const wakes = named(120)
  const read = new Set(Array.from({ length: max - 10 }, (_, at) => `name${at}`))
  const kept = keptWakes(wakes, read)
  expect([...kept.keys()]).toEqual([...read, ...Array.from({ length: 10 }, (_, at) => `name${110 + at}`)])
  expect(keptWakes(named(max), new Set())).toEqual(named(max))
})

test('the id of an event has a kilobyte at most in any log of up to 60 million events, and is read as it was written', () => {
  const wakes = new Map(Array.from({ length: max }, (_, at) => [`0123456789${at + 10}`, 60_000_000 - at]))
  const id = positionId({ head: 60_000_000, wakes })
  expect(id.length).toBeLessThan(1_024)
  expect(positionOf(id)).toEqual({ head: 60_000_000, wakes })
})

test('the id of a gateway that named more subscriptions is still a position', () => {
  const position = { head: 500, wakes: named(2 * max) }
  expect(positionOf(positionId(position))).toEqual(position)
})

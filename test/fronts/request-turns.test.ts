import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RequestTurns } from '../../src/fronts/request-turns.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

test('requests of one credential that is alone begin at once', () => {
  const turns = new RequestTurns(() => 0)
  const begun: number[] = []
  for (let count = 0; count < 100; count++) turns.begin('mallory', () => begun.push(count))
  expect(begun).toHaveLength(100)
})

test('while others are about, two of a credential begin in a turn, and a request of another one waits for none of them', async () => {
  const turns = new RequestTurns(() => 0)
  const begun: string[] = []
  turns.begin('donna', () => begun.push('donna'))
  for (let count = 0; count < 6; count++) turns.begin('mallory', () => begun.push(`mallory ${count}`))
  turns.begin('donna', () => begun.push('donna'))
  expect(begun).toEqual(['donna', 'mallory 0', 'mallory 1', 'donna'])
  await turn()
  expect(begun.slice(4)).toEqual(['mallory 2', 'mallory 3'])
  await turn()
  expect(begun.slice(6)).toEqual(['mallory 4', 'mallory 5'])
})

test('a second after the last request of others a credential is alone again', async () => {
  let now = 0
  const turns = new RequestTurns(() => now)
  const begun: number[] = []
  turns.begin('donna', () => {})
  turns.begin('mallory', () => {})
  now = 1_001
  for (let count = 0; count < 10; count++) turns.begin('mallory', () => begun.push(count))
  expect(begun).toHaveLength(10)
})

test('what waits is bounded: the next begins at once', () => {
  const turns = new RequestTurns(() => 0)
  let begun = 0
  turns.begin('donna', () => {})
  for (let count = 0; count < 1_500; count++) turns.begin('mallory', () => begun++)
  expect(begun).toBe(500)
})

test('every request begins once, those of a credential in their order', async () => {
  const credential = fc.constantFrom('a', 'b', 'c')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(credential, { maxLength: 12 }), { maxLength: 6 }), async (rounds) => {
      const turns = new RequestTurns(() => 0)
      const begun: string[] = []
      let id = 0
      for (const round of rounds) {
        for (const one of round) {
          const name = `${one} ${id++}`
          turns.begin(one, () => begun.push(name))
        }
        await turn()
      }
      while (begun.length < id) await turn()
      for (const one of ['a', 'b', 'c']) {
        const own = begun.filter((name) => name.startsWith(one)).map((name) => Number(name.split(' ')[1]))
        expect(own).toEqual(own.toSorted((x, y) => x - y))
      }
      expect(new Set(begun).size).toBe(id)
    }),
    { numRuns: 100 },
  )
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { leaveRequestQueue, noteQueued, RequestQueue } from '../../src/fronts/request-queue.ts'
import { FakeClock } from '../support/fake-clock.ts'

const iteration = () => new Promise((resolve) => setImmediate(resolve))

/** Some iterations of the event loop. */
async function turnsOf(count: number): Promise<void> {
  for (let done = 0; done < count; done++) await iteration()
}

/** Requests that note when they begin. */
class Requests {
  readonly clock = new FakeClock()
  readonly queue = new RequestQueue(this.clock)
  readonly begun: string[] = []
  readonly #ends = new Map<string, () => void>()

  /** A request with a key that is known to be valid. */
  begin(name: string, credential = name.split(' ')[0]!): void {
    this.queue.prove(credential)
    this.beginUnproven(name, credential)
  }

  beginUnproven(name: string, credential = name.split(' ')[0]!): void {
    this.#ends.set(
      name,
      this.queue.begin(credential, () => this.begun.push(name)),
    )
  }

  end(name: string): void {
    this.#ends.get(name)!()
  }
}

/** A fifth request of mallory waits for a connection, and for nothing else. */
function pausedByConnection(): Requests {
  const requests = new Requests()
  requests.begin('donna 0')
  for (let count = 0; count < 5; count++) requests.begin(`mallory ${count}`)
  requests.queue.noteConnection()
  requests.end('donna 0')
  for (let count = 0; count < 4; count++) requests.end(`mallory ${count}`)
  return requests
}

test('requests of one credential that is alone begin at once, a few in each iteration of the event loop', async () => {
  const requests = new Requests()
  for (let count = 0; count < 100; count++) requests.begin(`mallory ${count}`)
  expect(requests.begun).toHaveLength(32)
  await turnsOf(3)
  expect(requests.begun).toHaveLength(100)
})

test('who comes while a caller that was alone has many that begin waits for none of them', async () => {
  const requests = new Requests()
  for (let count = 0; count < 1_000; count++) requests.begin(`mallory ${count}`)
  requests.begin('donna 0')
  expect(requests.begun).toHaveLength(33)
  await turnsOf(40)
  expect(requests.begun).toHaveLength(33)
  requests.end('donna 0')
  await turnsOf(3)
  expect(requests.begun.length).toBeLessThan(50)
})

test('while others are about, few of a credential are in process, and a request of another one waits for none of them', async () => {
  const requests = new Requests()
  requests.begin('donna 0')
  requests.end('donna 0')
  for (let count = 0; count < 8; count++) requests.begin(`mallory ${count}`)
  requests.begin('donna 1')
  const first = ['donna 0', 'mallory 0', 'mallory 1', 'mallory 2', 'mallory 3', 'donna 1']
  expect(requests.begun).toEqual(first)
  for (let count = 0; count < 4; count++) requests.end(`mallory ${count}`)
  await turnsOf(3)
  expect(requests.begun).toEqual(first)
  requests.end('donna 1')
  await turnsOf(2)
  expect(requests.begun.slice(6)).toEqual(['mallory 4'])
  requests.end('mallory 4')
  await turnsOf(2)
  expect(requests.begun.slice(6)).toEqual(['mallory 4', 'mallory 5'])
})

test('who waits begins one after its patience, whatever the others do', async () => {
  const requests = new Requests()
  requests.begin('donna 0')
  for (let count = 0; count < 6; count++) requests.begin(`mallory ${count}`)
  for (let count = 0; count < 4; count++) requests.end(`mallory ${count}`)
  requests.clock.advance(25)
  await iteration()
  expect(requests.begun.slice(5)).toEqual(['mallory 4'])
})

test('a request that is in process for long is no longer waited for', async () => {
  const requests = new Requests()
  requests.begin('donna 0')
  for (let count = 0; count < 10; count++) requests.begin(`mallory ${count}`)
  expect(requests.begun).toHaveLength(5)
  for (let waited = 0; waited < 10; waited++) {
    requests.clock.advance(100)
    await turnsOf(3)
  }
  expect(requests.begun).toHaveLength(11)
  requests.end('donna 0')
})

test('a second after the last request of others a credential is alone again', () => {
  const requests = new Requests()
  requests.begin('donna 0')
  requests.begin('mallory first')
  requests.clock.advance(1_001)
  for (let count = 0; count < 10; count++) requests.begin(`mallory ${count}`)
  expect(requests.begun).toHaveLength(12)
})

test('what waits is bounded: the next begins at once', () => {
  const requests = new Requests()
  requests.begin('donna 0')
  for (let count = 0; count < 13_000; count++) requests.begin(`mallory ${count}`)
  expect(requests.begun).toHaveLength(1 + 3_000)
})

test('a request whose client goes away while it waits never begins, and those after it do', async () => {
  const requests = new Requests()
  requests.begin('donna 0')
  for (let count = 0; count < 6; count++) requests.begin(`mallory ${count}`)
  requests.end('mallory 4')
  for (let count = 0; count < 4; count++) requests.end(`mallory ${count}`)
  requests.end('donna 0')
  await turnsOf(6)
  expect(requests.begun.slice(5)).toEqual(['mallory 5'])
})

test('while connections arrive, one after the other, only a credential with many requests waits for them', async () => {
  const requests = pausedByConnection()
  for (let count = 0; count < 10; count++) {
    requests.queue.noteConnection()
    requests.begin(`carol${count} 0`)
    requests.end(`carol${count} 0`)
    await iteration()
  }
  expect(requests.begun).toHaveLength(15)
  expect(requests.begun).not.toContain('mallory 4')
  await turnsOf(4)
  expect(requests.begun.at(-1)).toBe('mallory 4')
})

test('a credential that seems to be alone waits for connections too: callers that nobody knows of yet may come with them', async () => {
  const requests = new Requests()
  requests.queue.noteConnection()
  for (let count = 0; count < 6; count++) requests.begin(`mallory ${count}`)
  for (let count = 0; count < 4; count++) requests.end(`mallory ${count}`)
  expect(requests.begun).toHaveLength(4)
  requests.queue.noteConnection()
  await iteration()
  requests.begin('donna 0')
  expect(requests.begun.slice(4)).toEqual(['donna 0'])
  requests.end('donna 0')
  await turnsOf(4)
  expect(requests.begun.slice(5)).toEqual(['mallory 4'])
})

test('connections that do not end delay nothing beyond its patience', async () => {
  const requests = pausedByConnection()
  await iteration()
  expect(requests.begun).toHaveLength(5)
  requests.queue.noteConnection()
  requests.clock.advance(25)
  await iteration()
  expect(requests.begun.at(-1)).toBe('mallory 4')
})

test('beside others, requests of an address without a valid key begin at a pace, and wait two seconds at most', async () => {
  const requests = new Requests()
  const unproven = () => requests.begun.filter((name) => name.startsWith('10.0.0.7')).length
  requests.begin('donna 0')
  requests.end('donna 0')
  let id = 0
  const begin = (count: number): void => {
    for (const last = id + count; id < last; ) requests.beginUnproven(`10.0.0.7 ${id++}`)
  }
  const pass = async (ms: number): Promise<void> => {
    requests.clock.advance(ms)
    for (let turns = 0; turns < 2_000; turns++) {
      for (const name of requests.begun) requests.end(name)
      await iteration()
    }
  }
  begin(120)
  await pass(0)
  expect(unproven()).toBe(20)
  await pass(500)
  expect(unproven()).toBeGreaterThanOrEqual(68)
  expect(unproven()).toBeLessThanOrEqual(71)
  requests.begin('donna 1')
  expect(requests.begun.at(-1)).toBe('donna 1')
  await pass(500)
  expect(unproven()).toBe(120)
  requests.begin('donna 2')
  begin(1_000)
  await pass(2_000)
  expect(unproven()).toBe(1_120)
})

test('an address that is alone has no pace, and a request whose client goes away while it waits for the pace never begins', async () => {
  const requests = new Requests()
  for (let nth = 0; nth < 200; nth++) requests.beginUnproven(`10.0.0.7 ${nth}`)
  await turnsOf(10)
  expect(requests.begun).toHaveLength(200)
  requests.begin('donna 0')
  requests.end('donna 0')
  for (let nth = 0; nth < 30; nth++) requests.beginUnproven(`10.0.0.8 ${nth}`)
  for (let nth = 0; nth < 30; nth++) requests.end(`10.0.0.8 ${nth}`)
  requests.clock.advance(2_000)
  await turnsOf(10)
  expect(requests.begun.filter((name) => name.startsWith('10.0.0.8')).length).toBeLessThanOrEqual(20)
  expect(requests.begun).not.toContain('10.0.0.8 29')
})

test('every request begins once, those of a credential in their order', async () => {
  const step = fc.record({ who: fc.constantFrom('a', 'b', 'c'), isConnection: fc.boolean() })
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(step, { maxLength: 12 }), { maxLength: 6 }), async (rounds) => {
      const requests = new Requests()
      let id = 0
      for (const round of rounds) {
        for (const { who, isConnection } of round) {
          if (isConnection) requests.queue.noteConnection()
          else requests.begin(`${who} ${id++}`)
        }
        await iteration()
      }
      const ended = new Set<string>()
      for (let looks = 0; requests.begun.length < id && looks < 1_000; looks++) {
        for (const name of requests.begun) {
          if (!ended.has(name)) requests.end(name)
          ended.add(name)
        }
        await iteration()
      }
      for (const one of ['a', 'b', 'c']) {
        const own = requests.begun.filter((name) => name.startsWith(one)).map((name) => Number(name.split(' ')[1]))
        expect(own).toEqual(own.toSorted((x, y) => x - y))
      }
      expect(requests.begun).toHaveLength(id)
      expect(new Set(requests.begun).size).toBe(id)
    }),
    { numRuns: 100 },
  )
})

test('a request that waits elsewhere lets the next one of its credential begin, and ends only once', async () => {
  const requests = new Requests()
  requests.begin('donna 0')
  requests.end('donna 0')
  for (let count = 0; count < 4; count++) requests.begin(`mallory ${count}`)
  const answers = [{}, {}]
  for (const answer of answers)
    requests.queue.begin('mallory', (leave) => noteQueued(answer, { leave, prove: () => {} }))
  for (const name of ['mallory 4', 'mallory 5', 'mallory 6']) requests.begin(name)
  for (let count = 0; count < 4; count++) {
    requests.end(`mallory ${count}`)
    await turnsOf(3)
  }
  expect(requests.begun.at(-1)).toBe('mallory 3')
  leaveRequestQueue(answers[0]!)
  leaveRequestQueue(answers[0]!)
  await turnsOf(3)
  expect(requests.begun.at(-1)).toBe('mallory 4')
})

test('a key is a caller of its own once it was found to be valid; made-up keys of one address are one caller', () => {
  const { queue } = new Requests()
  const address = '10.0.0.7'
  expect(queue.credentialOf(undefined, address)).toBe(address)
  expect(queue.credentialOf('rk_1', address)).toBe(address)
  queue.prove('rk_1')
  queue.prove(undefined)
  expect(queue.credentialOf('rk_1', address)).toBe('rk_1')
  expect(queue.credentialOf('rk_2', address)).toBe(address)
  expect(queue.credentialOf(undefined, address)).toBe(address)
  for (let count = 0; count < 10_000; count++) queue.prove(`rk of somebody else ${count}`)
  expect(queue.credentialOf('rk_1', address)).toBe(address)
})

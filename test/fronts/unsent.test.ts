import { expect, test } from 'vitest'
import { type AnswerReader, Unsent } from '../../src/fronts/unsent.ts'

const one: AnswerReader = { keyId: 'one', agentId: 'mallory' }
const other: AnswerReader = { keyId: 'other', agentId: 'mallory' }
const third: AnswerReader = { keyId: 'third', agentId: 'mallory' }
const bob: AnswerReader = { keyId: 'bob', agentId: 'bob' }
const limits = { bytesMax: 100, loadingMax: 4 }
const forever = new AbortController().signal

test('further keys of an agent leave no more unread than the agent may', () => {
  const unsent = new Unsent(limits)
  const taken = unsent.add(one, 50)
  expect(() => unsent.requireRoom(one)).toThrow('This key')
  unsent.requireRoom(other, 10)
  unsent.add(other, 50)
  expect(() => unsent.requireRoom(third)).toThrow('This agent')
  expect([unsent.isFull(third), unsent.isFull(bob)]).toEqual([true, false])
  unsent.requireRoom(bob, 1_000)
  taken()
  unsent.requireRoom(third)
})

test('an operator is counted by key, each with the whole limit', () => {
  const unsent = new Unsent(limits)
  unsent.add({ keyId: 'admin' }, 90)
  unsent.requireRoom({ keyId: 'admin' }, 5)
  unsent.requireRoom({ keyId: 'second' }, 1_000)
})

/** Loads an event. `ended`: undefined while it waits. */
function load(unsent: Unsent, reader: AnswerReader, signal = forever): { ended: (() => void) | undefined } {
  const state: { ended: (() => void) | undefined } = { ended: undefined }
  void unsent.load(reader, signal).then((end) => (state.ended = end))
  return state
}
const settled = () => new Promise((resolve) => setImmediate(resolve))

test('events of all keys of an agent are loaded one after the other, and a key that is full holds up no other key', async () => {
  const unsent = new Unsent(limits)
  const loads = [one, one, one, other, other, third].map((reader) => load(unsent, reader))
  const free = load(unsent, bob)
  await settled()
  const begun = () => loads.map(({ ended }) => ended !== undefined)
  expect(begun()).toEqual([true, true, false, true, true, false])
  expect(free.ended).toBeDefined()
  loads[3]!.ended!()
  await settled()
  // The first key has as many as it may.
  expect(begun()).toEqual([true, true, false, true, true, true])
  loads[0]!.ended!()
  await settled()
  expect(begun()).toEqual([true, true, true, true, true, true])
})

test('a stream that ends while it waits leaves its place to others', async () => {
  const unsent = new Unsent({ bytesMax: 100, loadingMax: 1 })
  const first = load(unsent, one)
  const left = new AbortController()
  const gone = load(unsent, other, left.signal)
  const last = load(unsent, third)
  await settled()
  left.abort()
  await settled()
  gone.ended!()
  first.ended!()
  await settled()
  expect(last.ended).toBeDefined()
  last.ended!()
  const again = load(unsent, one)
  await settled()
  expect(again.ended).toBeDefined()
})

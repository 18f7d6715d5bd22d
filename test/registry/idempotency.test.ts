import { expect, test } from 'vitest'
import { giveBackUsage } from '../../src/admission/usage-store.ts'
import {
  findFirstResult,
  keepResult,
  mailScope,
  pruneIdempotencyKeys,
  RepeatedRequests,
} from '../../src/registry/idempotency.ts'
import { Collision } from '../../src/storage/database.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { engine, openStore } from '../support/store.ts'

const dayMs = 24 * 60 * 60 * 1000
const never = new AbortController().signal
const request = { key: 'k', fingerprint: 'f' }

async function start() {
  const clock = new FakeClock()
  const directory = dataDirectory()
  const db = await openStore(directory.path, clock)
  return {
    clock,
    db,
    keep: (callerId: string, scope: string, id: string) =>
      db.transaction((tx) => keepResult(tx, callerId, scope, request, id)),
    find: (callerId: string, scope: string, of = request) => findFirstResult(db, callerId, scope, of),
    async [Symbol.asyncDispose]() {
      await db.close()
      directory[Symbol.dispose]()
    },
  }
}

test('a repeat finds the first result; another request with the same key is a conflict', async () => {
  await using store = await start()
  expect(await store.find('lola', mailScope)).toBeUndefined()
  await store.keep('lola', mailScope, 'message-1')
  expect(await store.find('lola', mailScope)).toBe('message-1')
  await expect(store.find('lola', mailScope, { key: 'k', fingerprint: 'g' })).rejects.toMatchObject({
    code: 'idempotency-conflict',
    field: 'Idempotency-Key',
  })
})

test('a key belongs to one caller and one scope', async () => {
  await using store = await start()
  await store.keep('lola', mailScope, 'message-1')
  await store.keep('lola', 'agent-1', 'task-1')
  await store.keep('mike', 'agent-1', 'task-2')
  expect(await store.find('lola', mailScope)).toBe('message-1')
  expect(await store.find('lola', 'agent-1')).toBe('task-1')
  expect(await store.find('mike', 'agent-1')).toBe('task-2')
  expect(await store.find('mike', mailScope)).toBeUndefined()
})

test('requests with one key run one after the other, also after a failure; those with other keys do not wait', async () => {
  const repeats = new RepeatedRequests()
  const order: string[] = []
  let finish = (): void => {}
  const first = repeats.run('lola', mailScope, request, async () => {
    await new Promise<void>((resolve) => {
      finish = resolve
    })
    order.push('first')
    throw new Error('of the first')
  })
  const second = repeats.run('lola', mailScope, request, async () => order.push('second'))
  await Promise.all([
    repeats.run('mike', mailScope, request, async () => order.push('another caller')),
    repeats.run('lola', 'agent-1', request, async () => order.push('another scope')),
    repeats.run('lola', mailScope, { ...request, key: 'l' }, async () => order.push('another key')),
  ])
  finish()
  await expect(first).rejects.toThrow('of the first')
  await second
  expect(order).toEqual(['another caller', 'another scope', 'another key', 'first', 'second'])
})

// A second try of one transaction would be one of all writers that share its commit.
test('ten repeats at the same time need one try each', async () => {
  await using store = await start()
  const repeats = new RepeatedRequests()
  let tries = 0
  const send = (id: string) => () =>
    store.db.transaction(async (tx) => {
      tries++
      const first = await findFirstResult(tx, 'lola', mailScope, request)
      if (first === undefined) await keepResult(tx, 'lola', mailScope, request, id)
      return first ?? id
    })
  const ids = Array.from({ length: 10 }, (_, n) => `message-${n}`)
  const results = await Promise.all(ids.map((id) => repeats.run('lola', mailScope, request, send(id))))
  expect(new Set(results)).toEqual(new Set(['message-0']))
  expect(tries).toBe(10)
})

test('a key that another transaction has used since the look-up is a collision, and keeps the first result', async () => {
  await using store = await start()
  await store.keep('lola', mailScope, 'first')
  let tries = 0
  const second = store.db.transaction(async (tx) => {
    if (++tries > 1) return findFirstResult(tx, 'lola', mailScope, request)
    await keepResult(tx, 'lola', mailScope, request, 'second').catch((error) => {
      expect(error).toBeInstanceOf(Collision)
      throw error
    })
    return 'second'
  })
  // SQLite has one writer at a time, so only PostgreSQL runs a transaction again.
  if (engine === 'postgres') expect(await second).toBe('first')
  else await expect(second).rejects.toThrow()
  expect(await store.find('lola', mailScope)).toBe('first')
})

test('keys are kept for 24 hours', async () => {
  await using store = await start()
  for (let n = 0; n < 1_100; n++) await store.keep('lola', `agent-${n}`, 'old')
  store.clock.advance(1)
  await store.keep('lola', mailScope, 'young')
  store.clock.advance(dayMs - 1)
  expect(await pruneIdempotencyKeys(store.db, store.clock.now(), never, giveBackUsage)).toBe(0)
  store.clock.advance(1)
  expect(await pruneIdempotencyKeys(store.db, store.clock.now(), never, giveBackUsage)).toBe(1_100)
  expect(await store.find('lola', mailScope)).toBe('young')
})

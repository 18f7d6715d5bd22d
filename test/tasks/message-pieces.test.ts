import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/lib/clock.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { sliceBytes } from '../../src/lib/pauses.ts'
import type { Database } from '../../src/storage/database.ts'
import { discardPieces, prunePieces, readPieces, storePieces, takePieces } from '../../src/tasks/message-pieces.ts'
import { dataDirectory } from '../support/data-directory.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore, openStore } from '../support/store.ts'
import { until } from '../support/until.ts'

let gateway: TestGateway
let donna: TestAgent
let lucy: TestAgent

beforeAll(async () => {
  gateway = await startGateway()
  await liftRates(gateway)
  donna = await gateway.addAgent('donna')
  lucy = await gateway.addAgent('lucy')
})

afterAll(() => gateway[Symbol.asyncDispose]())

/** 3 MB, in which each piece would end within a character if it had its whole size. */
const text = `a${'ж😀é\\"'.repeat(250_000)}`
const headers = { 'A2A-Version': '1.0' }
const send = (message: JsonObject = {}, more: Record<string, string> = {}) =>
  gateway.send('donna', text, { key: lucy.key, message, headers: { ...headers, ...more } })
const get = async (path: string) => (await gateway.call('GET', path, undefined, donna)).body

const storedPieces = (dataDir = gateway.dataDir) =>
  besideStore(
    dataDir,
    `select pieces_id as id, count(*) as pieces, max(octet_length(piece)) as longest from task_message_piece group by pieces_id`,
  )
const pendingOf = (dataDir = gateway.dataDir) =>
  besideStore(dataDir, 'select pieces_id as id, created_at as at from task_message_pending')

/** A store that does something before each of its transactions. */
function beforeTransactions(db: Database, act: () => Promise<void>): Database {
  return {
    all: (...asked) => db.all(...asked),
    get: (...asked) => db.get(...asked),
    transaction: (work) => act().then(() => db.transaction(work)),
    close: () => db.close(),
    [Symbol.asyncDispose]: () => db.close(),
  }
}

test('no row has much of a large message, which every answer shows as it was sent', async () => {
  const { id } = await send({ messageId: 'm-1' })
  const expected = { messageId: 'm-1', taskId: id, parts: [{ text }] }
  expect((await get(`/v1/tasks/${id}`)).history).toMatchObject([expected])
  expect((await get(`/v1/tasks/${id}/messages`)).messages).toMatchObject([expected])
  const list = await gateway.call('GET', '/agents/donna/tasks?historyLength=1', undefined, { key: lucy.key, headers })
  expect(list.body.tasks).toMatchObject([{ id, history: [expected] }])

  const [stored] = await storedPieces()
  expect(Number(stored!.pieces)).toBeGreaterThan(8)
  expect(Number(stored!.longest)).toBeLessThanOrEqual(sliceBytes + 3)
  const rows = await besideStore(gateway.dataDir, 'select max(octet_length(message)) as longest from task_message')
  expect(Number(rows[0]!.longest)).toBeLessThanOrEqual(sliceBytes + 1_000)
  expect(await pendingOf()).toEqual([])
})

test('a large message continues a task', async () => {
  const { id } = await gateway.send('donna', 'begin', { key: lucy.key })
  await send({ messageId: 'm-2', taskId: id })
  const { messages } = await get(`/v1/tasks/${id}/messages`)
  expect(messages.map((message: { parts: unknown }) => message.parts)).toEqual([[{ text: 'begin' }], [{ text }]])
})

test('of a large message that is refused nothing is kept', async () => {
  const { id } = await gateway.send('donna', 'begin', { key: lucy.key })
  await gateway.move(donna, id, 'working')
  await gateway.move(donna, id, 'completed')
  const before = await storedPieces()
  await expect(send({ taskId: id })).rejects.toThrow()
  expect(await storedPieces()).toEqual(before)
  expect(await pendingOf()).toEqual([])
})

test('a repeat of a large message stores nothing, and is answered with the first task', async () => {
  const key = { 'Idempotency-Key': 'once' }
  const message = { messageId: 'm-3' }
  const first = await send(message, key)
  const before = await storedPieces()
  expect((await send(message, key)).id).toBe(first.id)
  expect(await storedPieces()).toEqual(before)
  expect(await pendingOf()).toEqual([])
})

test('of a large message whose key is revoked meanwhile nothing is kept', async () => {
  const mallory = await gateway.addAgent('mallory')
  const sent = gateway.send('donna', 'x'.repeat(15_000_000), { key: mallory.key, headers }).then(() => 'stored', String)
  await until(
    async () => (await pendingOf()).length,
    (count) => count > 0,
  )
  const { body } = await gateway.call('GET', '/v1/agents/mallory/keys')
  expect((await gateway.call('DELETE', `/v1/agents/mallory/keys/${body.keys[0].keyId}`)).status).toBe(204)
  expect(await sent).toMatch(/revoked/)
  expect(await pendingOf()).toEqual([])
})

test('pieces that cannot all be stored are deleted', async () => {
  using directory = dataDirectory()
  await using db = await openStore(directory.path, systemClock)
  const bytes = Buffer.alloc(2 * 1024 * 1024, 'x')
  let left = 5
  const failing = beforeTransactions(db, async () => {
    if (left-- === 0) throw new Error('The disk is full.')
  })
  await expect(storePieces(failing, bytes, 'lucy')).rejects.toThrow('The disk is full.')
  expect(await storedPieces(directory.path)).toEqual([])
  expect(await pendingOf(directory.path)).toEqual([])
})

test('pieces that were discarded while others follow are not stored', async () => {
  using directory = dataDirectory()
  await using db = await openStore(directory.path, systemClock)
  let left = 3
  const discarding = beforeTransactions(db, async () => {
    if (left-- === 0) await besideStore(directory.path, 'update task_message_pending set created_at = 0')
  })
  await expect(storePieces(discarding, Buffer.alloc(2 * 1024 * 1024, 'x'), 'lucy')).rejects.toMatchObject({
    code: 'storage-unavailable',
  })
  expect(await storedPieces(directory.path)).toEqual([])
})

test('a text is read as it was stored, wherever its pieces end', async () => {
  using directory = dataDirectory()
  await using db = await openStore(directory.path, systemClock)
  const unit = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 9 }),
    fc.constantFrom('😀', 'ж', '\u0800'),
  )
  await fc.assert(
    fc.asyncProperty(unit, fc.nat(5), fc.nat(3 * sliceBytes), async (repeated, shift, more) => {
      const bytes = 4 * sliceBytes + more
      const whole = Buffer.from('x'.repeat(shift) + repeated.repeat(Math.ceil(bytes / Buffer.byteLength(repeated))))
      const pieces = (await storePieces(db, whole, 'lucy'))!
      expect(pieces.bytes).toBeLessThan(whole.length)
      const read = await readPieces(db, pieces.id, 'lucy')
      expect(Buffer.from(read).equals(whole.subarray(0, pieces.bytes))).toBe(true)
      await discardPieces(db, pieces.id, 'lucy')
    }),
    { numRuns: 20 },
  )
  expect(await storePieces(db, Buffer.alloc(4 * sliceBytes - 1, 'x'), 'lucy')).toBeUndefined()
  expect(await storedPieces(directory.path)).toEqual([])
})

test('pieces whose message was never stored are deleted after an hour, those of stored ones never', async () => {
  using directory = dataDirectory()
  await using db = await openStore(directory.path, systemClock)
  const whole = Buffer.alloc(6 * 1024 * 1024, 'x')
  const [lost, recent, stored, halfDeleted] = [
    await storePieces(db, whole, 'lucy'),
    await storePieces(db, whole, 'lucy'),
    await storePieces(db, whole, 'lucy'),
    await storePieces(db, whole, 'lucy'),
  ].map((pieces) => pieces!)
  await db.transaction((tx) => takePieces(tx, stored!))
  const age = (id: string, createdAt: number) =>
    besideStore(directory.path, 'update task_message_pending set created_at = ? where pieces_id = ?', createdAt, id)
  const now = Date.now()
  await age(lost!.id, now - 3_600_001)
  await age(recent!.id, now - 3_599_000)
  // As a crash leaves what was being deleted.
  await age(halfDeleted!.id, 0)
  await besideStore(directory.path, 'delete from task_message_piece where pieces_id = ? and nth < 8', halfDeleted!.id)

  expect(await prunePieces(db, now, AbortSignal.abort())).toBe(0)
  expect(await prunePieces(db, now, new AbortController().signal)).toBe(2)
  const left = await storedPieces(directory.path)
  expect(left.map(({ id }) => id).sort()).toEqual([recent!.id, stored!.id].sort())
  expect((await pendingOf(directory.path)).map(({ id }) => id)).toEqual([recent!.id])

  await discardPieces(db, stored!.id, 'lucy')
  expect(await storedPieces(directory.path)).toHaveLength(2)
})

test('a message whose pieces were deleted meanwhile is refused', async () => {
  using directory = dataDirectory()
  await using db = await openStore(directory.path, systemClock)
  const pieces = (await storePieces(db, Buffer.alloc(2 * 1024 * 1024, 'x'), 'lucy'))!
  await discardPieces(db, pieces.id, 'lucy')
  await expect(db.transaction((tx) => takePieces(tx, pieces))).rejects.toMatchObject({ code: 'storage-unavailable' })
})

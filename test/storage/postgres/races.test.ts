import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { WriteConnection } from '../../../src/storage/postgres/write-connection.ts'
import { dataDirectory } from '../../support/data-directory.ts'
import { startGateway, type TestAgent, type TestGateway } from '../../support/gateway.ts'
import { besideStore } from '../../support/store.ts'

// Two gateways on one store: whatever is read and then written must hold against the other one.

let directory: ReturnType<typeof dataDirectory>
let gateways: [TestGateway, TestGateway]
let donna: TestAgent

beforeEach(async () => {
  directory = dataDirectory()
  gateways = await Promise.all([startGateway({ dataDir: directory.path }), startGateway({ dataDir: directory.path })])
  donna = await gateways[0].addAgent('donna')
})
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(gateways.map((gateway) => gateway.stop()))
  directory[Symbol.dispose]()
})

/** Does something `count` times at once, alternately through one gateway and the other. */
const alternately = <T>(count: number, act: (gateway: TestGateway, n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => act(gateways[n % 2]!, n)))

test('of forty harnesses that claim one task through two gateways, one gets it', async () => {
  const { id } = await gateways[0].send('donna', 'work')
  const answers = await alternately(40, (gateway) =>
    gateway.call('POST', `/v1/tasks/${id}/transitions`, { to: 'working', expectedVersion: 1 }, donna),
  )
  expect(countOf(answers)).toEqual({ 200: 1, 409: 39 })
  const { body } = await gateways[1].call('GET', `/v1/tasks/${id}`, undefined, donna)
  expect(body).toMatchObject({ version: 2, state: 'working' })
})

test('sixty pieces of an artifact through two gateways are all stored', async () => {
  const { id } = await gateways[0].send('donna', 'work')
  const answers = await alternately(60, (gateway, n) =>
    gateway.call('POST', `/v1/tasks/${id}/artifacts`, { artifact: { parts: [{ text: `${n}` }] } }, donna),
  )
  expect(countOf(answers)).toEqual({ 201: 60 })
  const { body } = await gateways[1].call('GET', `/v1/tasks/${id}`, undefined, donna)
  expect(body.artifacts).toHaveLength(60)
})

test('messages to one task through two gateways are all in its history, and none after its end', async () => {
  const { id, contextId } = await gateways[0].send('donna', 'work', { key: gateways[0].adminKey })
  const sent = await alternately(30, async (gateway, n) => {
    if (n === 20) {
      const current = await gateway.call('GET', `/v1/tasks/${id}`)
      const body = { to: 'canceled', expectedVersion: current.body.version }
      await gateway.call('POST', `/v1/tasks/${id}/transitions`, body)
      return false
    }
    return gateway.send('donna', `${n}`, { message: { taskId: id, contextId } }).then(
      () => true,
      () => false,
    )
  })
  const { body } = await gateways[1].call('GET', `/v1/tasks/${id}?historyLength=100`)
  expect(body.history).toHaveLength(1 + sent.filter(Boolean).length)
  const [row] = await besideStore(directory.path, 'select version, message_count from task')
  expect(row!.message_count).toBe(1 + sent.filter(Boolean).length)
})

test('a message that is repeated with one idempotency key through two gateways is one task, and no group runs again', async () => {
  const queries = vi.spyOn(WriteConnection.prototype, 'query')
  const tasks = await alternately(20, (gateway) =>
    gateway.send('donna', 'once', {
      headers: { 'Idempotency-Key': 'same' },
      message: { messageId: 'same' },
    }),
  )
  expect(new Set(tasks.map(({ id }) => id)).size).toBe(1)
  expect(await besideStore(directory.path, 'select count(*) as kept from task')).toEqual([{ kept: 1 }])
  expect(queries.mock.calls.filter(([query]) => query === 'rollback')).toEqual([])
})

test('a handle that is registered through two gateways belongs to one agent', async () => {
  const answers = await alternately(20, (gateway) => gateway.call('POST', '/v1/agents', { handle: 'mike' }))
  expect(countOf(answers)).toEqual({ 201: 1, 409: 19 })
})

test('changes of an agent through two gateways are all applied, and other fields stay', async () => {
  const answers = await alternately(20, (gateway, n) =>
    gateway.call(
      'PATCH',
      '/v1/agents/donna',
      n % 2 ? { displayName: `Donna${String.fromCharCode(97 + n)}` } : { description: `Lead ${n}` },
    ),
  )
  expect(countOf(answers)).toEqual({ 200: 20 })
  const { body } = await gateways[0].call('GET', '/v1/agents/donna')
  expect(body).toMatchObject({ version: 21, displayName: expect.any(String), description: expect.any(String) })
})

test('rotations and filters of a subscription through two gateways do not undo each other', async () => {
  const { id } = await gateways[0].subscribe(donna, 'http://127.0.0.1:9/')
  const path = `/v1/wake-subscriptions/${id}`
  // Three former keys at most sign at a time.
  const rotation = (n: number) => ({ rotateSigningKey: true, overlapSeconds: n < 6 ? 60 : 0 })
  const answers = await alternately(20, (gateway, n) =>
    gateway.call('PATCH', path, n % 2 ? { filters: { priority: 'high' } } : rotation(n), donna),
  )
  expect(countOf(answers)).toEqual({ 200: 20 })
  const [row] = await besideStore(directory.path, 'select filters, generation, former_keys from subscription')
  expect(row).toMatchObject({ filters: expect.stringContaining('high'), generation: 10 })
  expect(JSON.parse(row!.former_keys as string)).toHaveLength(3)
})

test('a subscription that is removed through two gateways is removed once', async () => {
  const { id } = await gateways[0].subscribe(donna, 'http://127.0.0.1:9/')
  const answers = await alternately(10, (gateway) =>
    gateway.call('DELETE', `/v1/wake-subscriptions/${id}`, undefined, donna),
  )
  expect(countOf(answers)).toEqual({ 200: 1, 404: 9 })
  const removed = await besideStore(directory.path, "select log_id from event where type = 'subscription.removed'")
  expect(removed).toHaveLength(1)
})

test('an agent that is removed while others subscribe for it leaves no subscription behind', async () => {
  await Promise.all([
    gateways[1].call('DELETE', '/v1/agents/donna'),
    alternately(20, (gateway) => gateway.subscribe(donna, 'http://127.0.0.1:9/').catch(() => undefined)),
  ])
  expect(await besideStore(directory.path, 'select id from subscription')).toEqual([])
})

function countOf(answers: readonly { status: number }[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

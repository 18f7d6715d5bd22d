import pg from 'pg'
import { afterEach, expect, test, vi } from 'vitest'
import { WriteConnection } from '../../src/storage/postgres/write-connection.ts'
import type { TestAgent, TestGateway } from '../support/gateway.ts'
import { databaseUrlFor } from '../support/store.ts'
import { until } from '../support/until.ts'
import { startTwo } from './two-gateways.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** Counts who waits for a connection, and who waits for those. */
const waiting = `with waiting as (select pid, pg_blocking_pids(pid) as pids from pg_stat_activity where wait_event_type = 'Lock')
  select count(*)::int as count from waiting w
  where $1 = any (w.pids) or exists (select 1 from waiting v where v.pid = any (w.pids) and $1 = any (v.pids))`

/** Two gateways where each agent may own `claims` refs. */
async function startPair(claims: number) {
  const two = await startTwo()
  await two.a.call('PATCH', '/v1/projects/default', { limits: { owned: claims } })
  const holder = new pg.Client({ connectionString: await databaseUrlFor(two.dataDir) })
  await holder.connect()
  const { rows } = await holder.query('select pg_backend_pid() as pid')
  /** Does something `count` times at once, alternately through one gateway and the other. */
  const alternately = <T>(count: number, act: (gateway: TestGateway, n: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, n) => act(n % 2 ? two.b : two.a, n)))
  /** The same, where nobody can write a claim until both gateways wait for one. */
  const colliding = async <T>(count: number, act: (gateway: TestGateway, n: number) => Promise<T>): Promise<T[]> => {
    await holder.query('begin')
    await holder.query('lock table claim in share mode')
    const answers = alternately(count, act)
    await until(
      async () => (await holder.query(waiting, [rows[0].pid])).rows[0].count,
      (count) => count >= 2,
    )
    await holder.query('commit')
    return answers
  }
  const claim = (gateway: TestGateway, { key }: TestAgent, ref: string) =>
    gateway.call('POST', '/v1/claims', { ref }, { key })
  const close = async () => {
    await holder.end()
    await two[Symbol.asyncDispose]()
  }
  return { a: two.a, alternately, colliding, claim, [Symbol.asyncDispose]: close }
}

const countOf = (answers: readonly { status: number }[], wanted: number): number =>
  answers.filter(({ status }) => status === wanted).length
const ownedBy = async (gateway: TestGateway, owner: string): Promise<number> =>
  (await gateway.call('GET', `/v1/claims?owner=${owner}&limit=200`)).body.claims.length

/** Records what the gateways send to the store in transactions. */
function recordQueries(): () => string[] {
  const spy = vi.spyOn(WriteConnection.prototype, 'query')
  return () => spy.mock.calls.map(([query]) => (typeof query === 'string' ? query : query.text))
}

test('of many claims at once at two gateways, an agent gets as many as it may own', async () => {
  await using pair = await startPair(1)
  const { a, colliding, claim } = pair
  const bob = await a.addAgent('bob')
  const answers = await colliding(80, (gateway, n) => claim(gateway, bob, `ref-${n}`))
  expect([countOf(answers, 201), countOf(answers, 429)]).toEqual([1, 79])
  expect(await ownedBy(a, '@bob')).toBe(1)
})

test('of many hand-offs at once by several agents at two gateways, the receiver gets half of what it may own', async () => {
  await using pair = await startPair(2)
  const { a, colliding, claim } = pair
  const givers = await Promise.all(['ann', 'joe', 'kim', 'lee'].map((name) => a.addAgent(name)))
  await a.addAgent('bob')
  for (const giver of givers) for (let n = 0; n < 2; n += 1) await claim(a, giver, `${giver.handle}-${n}`)
  const answers = await colliding(8, (gateway, n) => {
    const { key, handle } = givers[n % 4]!
    return gateway.call('POST', '/v1/claims/handoff', { ref: `${handle}-${n < 4 ? 0 : 1}`, to: '@bob' }, { key })
  })
  expect([countOf(answers, 200), countOf(answers, 429)]).toEqual([1, 7])
  expect(await ownedBy(a, '@bob')).toBe(1)
})

test('of many tasks that are claimed at once at two gateways, an agent gets as many as it may own', async () => {
  await using pair = await startPair(1)
  const { a, colliding, claim } = pair
  const bob = await a.addAgent('bob')
  const tasks = await Promise.all(Array.from({ length: 20 }, (_, n) => a.send('bob', `job ${n}`)))
  const queries = recordQueries()
  const answers = await colliding(20, (gateway, n) => claim(gateway, bob, tasks[n]!.id))
  expect([countOf(answers, 201), countOf(answers, 429)]).toEqual([1, 19])
  expect(await ownedBy(a, '@bob')).toBe(1)
  // A claim that meets another one is run again alone. What others wrote in the same transaction is not.
  expect(queries().filter((text) => text === 'rollback')).toEqual([])
})

test('an agent with few claims is not locked', async () => {
  await using pair = await startPair(1_000)
  const { a, alternately, claim } = pair
  const bob = await a.addAgent('bob')
  const queries = recordQueries()
  const answers = await alternately(40, (gateway, n) => claim(gateway, bob, `ref-${n}`))
  expect(countOf(answers, 201)).toBe(40)
  expect(queries().filter((text) => /from agent .*for update/s.test(text))).toEqual([])
})

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { needKinds } from '../../src/needs/need.ts'
import { comparePlaces, type Place, urgencies, urgencyOf } from '../../src/needs/urgency.ts'
import { FakeClock } from '../support/fake-clock.ts'
import { liftRates, startGateway, type TestAgent, type TestGateway } from '../support/gateway.ts'
import { besideStore } from '../support/store.ts'

const minute = 60_000

interface Need {
  readonly id: string
  readonly urgency: (typeof urgencies)[number]
  readonly since: string
}

const needsOf = async (gateway: TestGateway, query = '') => (await gateway.call('GET', `/v1/needs${query}`)).body

test('every kind has an urgency, and places are ordered by it, whatever their times and ids', () => {
  expect(Object.keys(urgencyOf).sort()).toEqual([...needKinds].sort())
  const place = fc.record({
    urgency: fc.constantFrom(...urgencies),
    createdAt: fc.nat(3),
    id: fc.string({ maxLength: 2 }),
  })
  fc.assert(
    fc.property(fc.array(place, { maxLength: 30 }), (places: Place[]) => {
      const sorted = [...places].sort(comparePlaces)
      for (const [at, one] of sorted.slice(1).entries()) {
        const before = sorted[at]!
        const ranks = [before, one].map(({ urgency }) => urgencies.indexOf(urgency))
        expect(ranks[0]).toBeLessThanOrEqual(ranks[1]!)
        if (ranks[0] === ranks[1]) expect(before.createdAt).toBeLessThanOrEqual(one.createdAt)
        expect(comparePlaces(one, before)).toBe(-comparePlaces(before, one) + 0 || 0)
      }
    }),
  )
})

type Act = 'mail' | 'task' | 'ask' | 'sign in' | 'park' | 'wait'

test('whatever agents send, what stops work stands before what wakes nobody, late tasks and mail, on every page', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock }, env: { ROUSE_STORM_MESSAGES: '0' } })
  await liftRates(gateway)
  const agents: TestAgent[] = []
  const acts = fc.array(
    fc.tuple(fc.constantFrom<Act>('mail', 'task', 'ask', 'sign in', 'park', 'wait'), fc.nat(2), fc.nat(2)),
    { minLength: 1, maxLength: 12 },
  )
  for (const name of ['a', 'b', 'c']) agents.push(await gateway.addAgent(name))
  const act = async ([what, from, to]: [Act, number, number]): Promise<void> => {
    const [one, other] = [agents[from]!, agents[to]!]
    if (what === 'wait') return void (await clock.advance(11 * minute))
    if (what === 'mail')
      return void (await gateway.call('POST', '/v1/messages', { to: '@operator', subject: 'URGENT' }, one))
    if (what === 'park') return void (await gateway.call('PUT', '/v1/parked', { until: null, reason: 'x' }, one))
    const { id } = await gateway.send(other.handle, 'URGENT', { key: one.key })
    const state = what === 'ask' ? 'input-required' : 'auth-required'
    if (what !== 'task') await gateway.move(other, id, state, { message: 'Now!' })
  }
  await fc.assert(
    fc.asyncProperty(acts, fc.integer({ min: 1, max: 7 }), async (all, limit) => {
      for (const one of all) await act(one)
      const whole = await needsOf(gateway)
      const ranks = whole.needs.map(({ urgency, since }: Need) => [urgencies.indexOf(urgency), since] as const)
      for (const [at, [rank, since]] of ranks.slice(1).entries()) {
        const [rankBefore, sinceBefore] = ranks[at]!
        expect(rankBefore < rank || (rankBefore === rank && sinceBefore <= since)).toBe(true)
      }
      const counted = whole.groups.map(({ urgency }: Need) => urgencies.indexOf(urgency))
      expect(counted).toEqual([...counted].sort())
      for (const urgency of urgencies) {
        const listed = (await needsOf(gateway, `?urgency=${urgency}`)).needs
        expect(listed.every((need: Need) => need.urgency === urgency)).toBe(true)
        const own = whole.groups.filter((group: Need) => group.urgency === urgency)
        expect(whole.counts[urgency]).toBe(own.reduce((sum: number, { count }: { count: number }) => sum + count, 0))
      }
      const paged: string[] = []
      for (let token = '', page = 0; page === 0 || token !== ''; page++) {
        const found = await needsOf(gateway, `?limit=${limit}&pageToken=${token}`)
        paged.push(...found.needs.map(({ id }: Need) => id))
        token = found.nextPageToken
      }
      expect(paged).toEqual(whole.needs.map(({ id }: Need) => id))
    }),
    { numRuns: 8 },
  )
})

test('a page token of the order by age is refused, and says what to do', async () => {
  await using gateway = await startGateway()
  const old = Buffer.from('1795913794000/01a2221e-ad9b-7000-8000-33a20fb8df3a@2').toString('base64url')
  for (const token of [old, 'stops', 'mail.', `nothing.${old}`, `mail.${'x'.repeat(40)}`]) {
    const refused = await gateway.call('GET', `/v1/needs?pageToken=${token}`)
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid-request' } })
    expect(refused.body.detail).toContain('pageToken')
  }
})

test('one question stands before 5,000 late tasks and 150 mails, and the counts are true', async () => {
  const clock = new FakeClock()
  await using gateway = await startGateway({ overrides: { clock }, env: { ROUSE_STORM_MESSAGES: '0' } })
  await liftRates(gateway)
  const [eve, mia, bob] = [await gateway.addAgent('eve'), await gateway.addAgent('mia'), await gateway.addAgent('bob')]
  await gateway.call('PATCH', '/v1/projects/default', { limits: { messagesPerMinute: 0, heavyPerMinute: 0 } })
  const { id: model } = await gateway.send('bob', 'late', { key: eve.key })
  await copyTask(gateway, model, 4_999)
  for (let n = 0; n < 150; n++) {
    await gateway.call('POST', '/v1/messages', { to: '@operator', subject: `n${n}` }, mia)
  }
  await clock.advance(20 * minute)
  const asked = await gateway.send('bob', 'drop the production table', { key: eve.key })
  await gateway.move(bob, asked.id, 'input-required', { message: 'URGENT: may I?' })
  const found = await needsOf(gateway)
  expect(found.needs[0]).toMatchObject({ urgency: 'stops', taskId: asked.id, subject: 'drop the production table' })
  expect(found.counts).toEqual({ stops: 1, wakes: 0, late: 1_000, mail: 150 })
  expect(found.countsAtLeast).toEqual(['late'])
  expect(found.groups).toMatchObject([
    { urgency: 'stops', kind: 'input', agent: '@bob', count: 1, atLeast: false },
    { urgency: 'late', kind: 'late', agent: '@bob', count: 1_000, atLeast: true },
    { urgency: 'mail', kind: 'mail', agent: '@mia', count: 150, atLeast: false },
  ])
  // What was put off is not counted, also beyond what is listed.
  const all = await needsOf(gateway, '?agent=@mia')
  const until = new Date(clock.now() + 3_600_000).toISOString()
  for (const need of [all.needs[0].id, all.needs[149].id]) {
    expect((await gateway.call('POST', '/v1/needs/snooze', { need, until })).status).toBe(200)
  }
  const later = await needsOf(gateway)
  expect(later.counts.mail).toBe(148)
  expect(later.groups.at(-1)).toMatchObject({ agent: '@mia', count: 148, since: all.needs[1].since })
  expect(later.total.mail).toBe(150)
})

/** Adds tasks like one that is there, with all that counts them. */
async function copyTask({ dataDir }: TestGateway, id: string, copies: number): Promise<void> {
  const [row] = await besideStore(dataDir, 'select * from task where id = ?', id)
  const names = Object.keys(row!).filter((name) => name !== 'id')
  for (let at = 0; at < copies; at += 500) {
    const ids = Array.from(
      { length: Math.min(500, copies - at) },
      (_, n) => `('${id.slice(0, -5)}${String(at + n).padStart(5, '0')}')`,
    )
    await besideStore(
      dataDir,
      `insert into task (id, ${names.join(', ')}) select v.column1, ${names.join(', ')} from task, (values ${ids.join(', ')}) v where id = ?
        on conflict do nothing`,
      id,
    )
  }
  await besideStore(dataDir, `update task_count set total = total + ${copies} where state = 'submitted'`)
}

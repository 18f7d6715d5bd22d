import { expect, test } from 'vitest'
import { readProjectEvents } from '../../src/log/event-store.ts'
import { sendMail } from '../../src/mailbox/sending/send-mail.ts'
import { operator } from '../../src/registry/callers/caller.ts'
import { besideStore } from '../support/store.ts'
import { type Office, openOffice } from './office.ts'

const windowMs = 10 * 60_000
const stormTurns = 60

/** Broadcasts of agents of the office, with no other limit. */
function broadcaster(office: Office, turns = stormTurns) {
  const context = { ...office.context, limits: { perMinute: 0, stormTurns: turns, stormMessages: 0 } }
  const broadcast = (from: string) => sendMail(context, office.caller(from), { to: '*', subject: 'x' })
  const isSent = (from: string) =>
    broadcast(from).then(
      () => true,
      () => false,
    )
  /** Broadcasts, one agent after the other, until each was refused in one round. Returns how many each has sent. */
  const storm = async (...agents: string[]) => {
    const sent = agents.map(() => 0)
    for (let isOver = false; !isOver; ) {
      isOver = true
      for (const [n, agent] of agents.entries()) {
        if (!(await isSent(agent))) continue
        sent[n]!++
        isOver = false
      }
    }
    return sent
  }
  return { context, broadcast, isSent, storm }
}
const refusalOf = (sending: Promise<unknown>) => sending.then(() => undefined).catch((problem) => problem)
const crowdOf = (count: number) => Array.from({ length: count }, (_, n) => `agent-${n}`)
const sum = (counts: readonly number[]) => counts.reduce((a, b) => a + b, 0)
const trips = async (office: Office) =>
  (await readProjectEvents(office.db, 'default', 0, 10_000)).filter(({ type }) => type === 'mail.storm_tripped')

// The attack
test('two agents that answer broadcasts with broadcasts silence themselves and nobody else, for ten minutes', async () => {
  await using office = await openOffice('mallory', 'trent', 'ines', 'donna')
  const { context, broadcast, isSent, storm } = broadcaster(office)
  expect(await storm('mallory', 'trent')).toEqual([31, 30])
  for (const [from, sent] of [
    ['mallory', 31],
    ['trent', 30],
  ] as const) {
    expect(await refusalOf(broadcast(from))).toMatchObject({
      code: 'storm-breaker',
      status: 429,
      message: expect.stringContaining(`@${from} has sent ${sent}, and may broadcast again in 600 s`),
      extra: { limit: 60, limitName: 'stormTurns', agents: [`@${from}`, '*'], retryAfterSeconds: 600 },
    })
  }
  for (const from of ['ines', 'donna', 'ines', 'donna']) {
    await broadcast(from)
    expect([await isSent('mallory'), await isSent('trent')]).toEqual([false, false])
  }
  await sendMail(context, office.caller('mallory'), { to: '@trent', subject: 'x' })
  await sendMail(context, operator, { to: '*', subject: 'x' })
  expect(await trips(office)).toMatchObject([
    { data: { agents: ['@trent', '*'], limit: 60, reason: expect.stringContaining('with broadcasts 60 times') } },
  ])
  office.clock.advance(windowMs - 1)
  expect(await isSent('mallory')).toBe(false)
  office.clock.advance(1)
  expect(await storm('mallory', 'trent')).toEqual([31, 30])
  await broadcast('ines')
  expect(await trips(office)).toHaveLength(2)
})

test('two that broadcast at the same time have no more answers than two that take turns', async () => {
  await using office = await openOffice('mallory', 'trent', 'ines')
  const { isSent, storm } = broadcaster(office)
  await Promise.all(Array.from({ length: 128 }, (_, n) => isSent(n % 2 === 0 ? 'mallory' : 'trent')))
  await storm('mallory', 'trent')
  expect(await besideStore(office.directory, "select turns from exchange where first_id = '*'")).toEqual([
    { turns: 60 },
  ])
  expect(await isSent('ines')).toBe(true)
})

test('a storm that began slowly is stopped for ten minutes from its first refusal', async () => {
  await using office = await openOffice('mallory', 'trent', 'ines')
  const { broadcast, isSent } = broadcaster(office, 10)
  for (let n = 0; n < 11; n++) {
    await broadcast(n % 2 === 0 ? 'mallory' : 'trent')
    office.clock.advance(50_000)
  }
  expect(await refusalOf(broadcast('trent'))).toMatchObject({ extra: { retryAfterSeconds: 600 } })
  office.clock.advance(windowMs - 1_000)
  expect([await isSent('mallory'), await isSent('trent'), await isSent('ines')]).toEqual([false, false, true])
  expect(await refusalOf(broadcast('mallory'))).toMatchObject({ extra: { retryAfterSeconds: 1 } })
  office.clock.advance(1_000)
  expect([await isSent('mallory'), await isSent('trent')]).toEqual([true, true])
})

test.each([
  [3, 61],
  [5, 61],
  [10, 70],
  [40, 105],
])(
  'a ring of %i agents is stopped after %i broadcasts, and an agent that took no part still broadcasts',
  async (size, total) => {
    const ring = crowdOf(size)
    await using office = await openOffice('ines', ...ring)
    const { broadcast, isSent, storm } = broadcaster(office)
    expect(sum(await storm(...ring))).toBe(total)
    await broadcast('ines')
    for (const agent of ring) expect(await isSent(agent)).toBe(false)
  },
)

test('a crowd gets twice the answers and no more, also at the same time, and who sent none is not blamed', async () => {
  const crowd = crowdOf(60)
  await using office = await openOffice('ines', ...crowd)
  const { broadcast, isSent } = broadcaster(office, 20)
  const sent = await Promise.all(crowd.map(isSent))
  expect(sent.filter(Boolean)).toHaveLength(41)
  for (let n = 0; n < 2; n++) {
    const refusal = await refusalOf(broadcast('ines'))
    expect(refusal).toMatchObject({ code: 'storm-breaker', extra: { agents: ['*'], limit: 20 } })
    expect(refusal.message).toContain('Others have sent most of these broadcasts; @ines may broadcast again in 600 s')
  }
  expect(await trips(office)).toMatchObject([{ data: { agents: ['*'] } }])
  office.clock.advance(windowMs)
  await broadcast('ines')
})

test('broadcasts of one agent in a row are no storm, and nor are slow answers', async () => {
  await using office = await openOffice('lola', 'donna')
  const { broadcast } = broadcaster(office, 3)
  for (let n = 0; n < 40; n++) await broadcast('lola')
  for (let n = 0; n < 20; n++) {
    office.clock.advance(windowMs / 2)
    await broadcast(n % 2 === 0 ? 'donna' : 'lola')
  }
})

test('a clock that is set back begins a new window', async () => {
  await using office = await openOffice('mallory', 'trent')
  const { isSent, storm } = broadcaster(office, 6)
  expect(await storm('mallory', 'trent')).toEqual([4, 3])
  office.clock.advance(-3_600_000)
  expect(await isSent('mallory')).toBe(true)
  expect(await storm('trent', 'mallory')).toEqual([3, 3])
  expect(await trips(office)).toHaveLength(2)
})

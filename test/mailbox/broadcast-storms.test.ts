import { expect, test } from 'vitest'
import { readProjectEvents } from '../../src/log/event-store.ts'
import { sendMail } from '../../src/mailbox/sending/send-mail.ts'
import { operator } from '../../src/registry/callers/caller.ts'
import { type Office, openOffice } from './office.ts'

const windowMs = 10 * 60_000
const stormTurns = 60

/** Broadcasts of agents of the office, with no other limit. */
function broadcaster(office: Office, turns = stormTurns) {
  const context = office.limited({ perMinute: 0, stormTurns: turns, stormMessages: 0 })
  const broadcast = (from: string) => sendMail(context, office.caller(from), { to: '*', subject: 'x' })
  const isSent = (from: string) =>
    broadcast(from).then(
      () => true,
      () => false,
    )
  /** Every agent answers each broadcast with a broadcast, until all are refused. Returns how many each has sent. */
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
const trips = async (office: Office) =>
  (await readProjectEvents(office.db, 'default', 0, 10_000)).filter(({ type }) => type === 'mail.storm_tripped')

// The attack
test('agents that answer broadcasts with broadcasts silence themselves and nobody else, for ten minutes', async () => {
  await using office = await openOffice('mallory', 'trent', 'ines', 'donna')
  const { context, broadcast, isSent, storm } = broadcaster(office)
  expect(await storm('mallory', 'trent')).toEqual([60, 60])
  for (const from of ['mallory', 'trent']) {
    await expect(broadcast(from)).rejects.toMatchObject({
      code: 'storm-breaker',
      status: 429,
      message: `@${from} has broadcast to * 60 times within ten minutes. It may broadcast again in 600 s, and write to single agents meanwhile. Do not answer broadcasts with broadcasts.`,
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
    { data: { agents: ['@mallory', '*'], limit: 60 } },
    { data: { agents: ['@trent', '*'], limit: 60, reason: expect.stringContaining('Do not answer broadcasts') } },
  ])
  office.clock.advance(windowMs - 1)
  expect(await isSent('mallory')).toBe(false)
  office.clock.advance(1)
  expect(await storm('mallory', 'trent')).toEqual([60, 60])
  expect(await trips(office)).toHaveLength(4)
})

test('an agent that broadcasts from many requests at the same time gets no more', async () => {
  await using office = await openOffice('mallory', 'ines')
  const { isSent } = broadcaster(office)
  const sent = await Promise.all(Array.from({ length: 128 }, () => isSent('mallory')))
  expect(sent.filter(Boolean)).toHaveLength(60)
  expect(await isSent('ines')).toBe(true)
})

test('a few broadcasts now and then are no storm', async () => {
  await using office = await openOffice('lola', 'donna')
  const { broadcast } = broadcaster(office, 3)
  for (let n = 0; n < 20; n++) {
    office.clock.advance(windowMs / 3)
    await broadcast('donna')
    await broadcast('lola')
  }
})

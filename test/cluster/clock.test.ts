import { expect, test } from 'vitest'
import { listGateways, saveHeartbeat } from '../../src/cluster/gateway-store.ts'
import { Membership } from '../../src/cluster/membership.ts'
import { SweepLeases } from '../../src/cluster/sweep-leases.ts'
import type { Clock } from '../../src/lib/clock.ts'
import { requeueLeasesOf } from '../../src/wakes/store/gateway-leases.ts'
import { logLines } from '../support/log-lines.ts'
import { until } from '../support/until.ts'
import { advanceUntil } from '../wakes/acts.ts'
import { openEngine } from '../wakes/engine.ts'

const minuteMs = 60_000

/** A gateway whose clock a test sets. The engine's clock is that of the store. */
async function openOneWith(offsetMs: number) {
  const engine = await openEngine(() => Promise.reject(new Error('Nothing is sent here.')))
  const { db, clock: storeClock } = engine
  const set = { offsetMs }
  const clock: Clock = { now: () => storeClock.now() + set.offsetMs, after: (ms, work) => storeClock.after(ms, work) }
  const { log, lines, of } = logLines()
  const members = new Membership({ db, clock, storeClock, log, id: 'mine', requeueLeasesOf, due() {} })
  const others = async () => (await listGateways(db)).map(({ id }) => id).filter((id) => id !== 'mine')
  return {
    db,
    storeClock,
    set,
    members,
    lines,
    of,
    others,
    leases: new SweepLeases(db, 'mine', clock, members.isSureOfTime),
    otherLeases: new SweepLeases(db, 'other', storeClock, async () => true),
    async [Symbol.asyncDispose]() {
      await members.stop()
      await engine[Symbol.asyncDispose]()
    },
  }
}

// The attack: one machine has a wrong clock, and ends what the gateways with a right one keep alive.
test.each([6 * minuteMs, -6 * minuteMs])('a clock that is %i ms wrong takes nothing over, and no sweep', async (ms) => {
  await using one = await openOneWith(ms)
  await saveHeartbeat(one.db, 'other', one.storeClock, one.storeClock)
  expect(await one.otherLeases.holds('sweep')).toBe(true)
  await one.members.start()
  for (let beats = 0; beats < 10; beats++) {
    expect([await one.leases.holds('sweep'), await one.leases.holds('unowned')]).toEqual([false, false])
    one.storeClock.advance(3_000)
    await until(
      () => one.storeClock.timerCount,
      (count) => count > 0,
    )
  }
  // 30 s are past: the other gateway is dead, and its lease has ended.
  expect(await one.others()).toEqual(['other'])
  expect(one.members.isClockRight()).toBe(false)
  expect(one.lines).toEqual([{ level: 'error', event: 'gateway.clock_wrong', offsetMs: ms }])

  one.set.offsetMs = 0
  // The first heartbeat after the jump leaves the others time for theirs.
  await advanceUntil(
    one.storeClock,
    3_000,
    async () => one.of('gateway.taken_over').length,
    (count) => count === 1,
  )
  expect(await one.others()).toEqual([])
  expect(one.members.isClockRight()).toBe(true)
  expect(await one.leases.holds('sweep')).toBe(true)
  expect(one.of('gateway.clock_right')).toEqual([{ level: 'info', event: 'gateway.clock_right', offsetMs: 0 }])
})

test('gateways whose clocks differ see the same heartbeats: one with a wrong clock is not taken over while it lives', async () => {
  await using one = await openOneWith(-6 * minuteMs)
  await saveHeartbeat(one.db, 'other', one.storeClock, one.storeClock)
  await one.members.start()
  expect((await listGateways(one.db)).map(({ seenAt }) => seenAt)).toEqual([one.storeClock.now(), one.storeClock.now()])
})

test('a clock that is set between two heartbeats is noticed before the next sweep', async () => {
  await using one = await openOneWith(0)
  await one.members.start()
  expect(await one.leases.holds('sweep')).toBe(true)
  one.set.offsetMs = 6 * minuteMs
  expect([await one.leases.holds('sweep'), await one.leases.holds('other')]).toEqual([false, false])
  expect(one.of('gateway.clock_wrong')).toMatchObject([{ offsetMs: 6 * minuteMs }])
})

test('the time until the answer of the store is no difference of the clocks', async () => {
  await using one = await openOneWith(0)
  const start = one.storeClock.now()
  const after = () => () => {}
  const times = [start, start + 20_000]
  const slow: Clock = { now: () => times.shift()!, after }
  const storeClock: Clock = { now: () => start + 10_000, after }
  expect(await saveHeartbeat(one.db, 'slow', slow, storeClock)).toEqual({ seenAt: start + 10_000, offsetMs: 0 })
})

test('a lease that a gateway with a wrong clock has taken for hours is free', async () => {
  await using one = await openOneWith(0)
  const ahead: Clock = { now: () => one.storeClock.now() + 60 * minuteMs, after: () => () => {} }
  await one.members.start()
  expect(await one.otherLeases.holds('right')).toBe(true)
  expect(await one.leases.holds('right')).toBe(false)
  const { holds } = new SweepLeases(timedBy(one.db, ahead), 'ahead', ahead, async () => true)
  expect(await holds('sweep')).toBe(true)
  expect(await one.leases.holds('sweep')).toBe(true)
})

/** The store as a gateway with this clock writes it. */
function timedBy(db: Parameters<typeof saveHeartbeat>[0], clock: Clock): typeof db {
  return { ...db, transaction: (work) => db.transaction((tx) => work({ ...tx, now: clock.now() })) }
}

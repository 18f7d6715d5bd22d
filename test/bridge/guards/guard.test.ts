import { expect, test } from 'vitest'
import { type BegunTurn, guard, reserveOf } from '../../../src/bridge/guards/guard.ts'

const limits = { turnsAnHour: 30, wakesFromOneAgentAnHour: 20, maxTurnsAMinute: 1 }
const hourMs = 3_600_000
const now = 10 * hourMs
/** So many turns of these senders, the oldest at an instant, a second apart; the newest first. */
const turnsOf = (count: number, senders: readonly string[], from = now - hourMs + 1_000): BegunTurn[] =>
  Array.from({ length: count }, (_, i) => ({ at: from + (count - 1 - i) * 1_000, senders }))
const ask = (senders: readonly string[], turns: readonly BegunTurn[], ofBridge?: number) =>
  guard({ agent: '@donna', senders }, limits, { turns, ofBridge }, now)

test('fewer turns than the limits allow are let through, and those of an hour ago', () => {
  expect(ask(['@olga'], [])).toBeUndefined()
  expect(ask(['@olga'], turnsOf(30, ['@ben'], now - 2 * hourMs), now - 60_000)).toBeUndefined()
})

test('the turns of an agent within an hour are held until the oldest of them is an hour old', () => {
  expect(ask(['@new'], turnsOf(30, ['@olga', '@ben']))).toEqual({
    reason: '@donna has begun 30 turns within an hour (turnsAnHour)',
    mayAt: now + 1_000,
  })
})

test('two agents that wake each other are held, and so is a bridge that runs away', () => {
  expect(ask(['@olga'], turnsOf(20, ['@olga']))).toMatchObject({
    reason: expect.stringContaining('@olga has woken @donna 20 times within an hour'),
    mayAt: now + 1_000,
    isOfSender: true,
  })
  expect(ask(['@olga'], [], now)).toEqual({
    reason: 'this bridge has begun 1 turn within a minute (maxTurnsAMinute)',
    mayAt: now + 60_000,
  })
})

test('of several the one is reported that lasts longest', () => {
  expect(ask(['@olga'], turnsOf(20, ['@olga']), now)?.mayAt).toBe(now + 60_000)
  expect(ask(['@olga'], turnsOf(20, ['@olga'], now - 60_000), now)?.isOfSender).toBe(true)
})

test('a turn that was about several counts for each; a wake of several waits for none that may', () => {
  const both = turnsOf(20, ['@olga', '@ben'])
  expect(ask(['@olga'], both)?.isOfSender).toBe(true)
  expect(ask(['@ben'], both)?.isOfSender).toBe(true)
  expect(ask(['@olga', '@ben'], both)?.isOfSender).toBe(true)
  expect(ask(['@olga', '@carl'], both)).toBeUndefined()
})

test('two who send all they may leave a third its share, and wait for their own turns to grow old', () => {
  const flood = [...turnsOf(12, ['@ben'], now - 60_000), ...turnsOf(13, ['@olga'])]
  for (const sender of ['@ben', '@olga']) {
    expect(ask([sender], flood)).toMatchObject({ reason: expect.stringContaining('its share'), isOfSender: true })
  }
  const third = (count: number) => ask(['@carl'], [...turnsOf(count, ['@carl'], now - 5_000), ...flood])
  expect([0, 1, 2, 3, 4].map(third)).toEqual([0, 1, 2, 3, 4].map(() => undefined))
  expect(third(5)?.reason).toContain('30 turns within an hour')
})

test.each([
  [1, 0],
  [2, 0],
  [3, 1],
  [30, 5],
  [600, 100],
])('of %i turns an hour %i are kept', (turns, kept) => {
  expect(reserveOf(turns)).toBe(kept)
})

/** A small generator of numbers below 1, from a seed. */
function numbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

test.each(Array.from({ length: 40 }, (_, seed) => seed))(
  'whoever colludes, nobody is silenced and no limit is passed (%i)',
  (seed) => {
    const random = numbers(seed)
    const turnsAnHour = 3 + Math.floor(random() * 40)
    const bounds = { turnsAnHour, wakesFromOneAgentAnHour: 1 + Math.floor(random() * 40), maxTurnsAMinute: 1_000 }
    const colluders = Array.from(
      { length: 1 + Math.floor(random() * Math.min(5, turnsAnHour - 1)) },
      (_, i) => `@bad${i}`,
    )
    const arrival = (1 + random()) * hourMs
    const turns: BegunTurn[] = []
    const within = (at: number) => turns.filter((turn) => turn.at > at - hourMs)
    const tryOne = (sender: string, at: number): boolean => {
      const recent = [...within(at)].reverse().slice(0, turnsAnHour)
      if (guard({ agent: '@donna', senders: [sender] }, bounds, { turns: recent }, at)) return false
      turns.push({ at, senders: [sender] })
      return true
    }
    let hasCome = false
    for (let at = 0; at < 4 * hourMs; at += 10_000 + random() * 50_000) {
      if (!hasCome && at >= arrival) {
        hasCome = true
        // Its first wake begins a turn at once.
        expect(tryOne('@carl', at)).toBe(true)
      }
      for (const sender of colluders) tryOne(sender, at)
      if (hasCome) tryOne('@carl', at)
      const last = within(at)
      expect(last.length).toBeLessThanOrEqual(turnsAnHour)
      const most = Math.max(
        0,
        ...[...colluders, '@carl'].map((one) => last.filter(({ senders }) => senders.includes(one)).length),
      )
      expect(most).toBeLessThanOrEqual(bounds.wakesFromOneAgentAnHour)
    }
    // In the hours after, it has its share, or all that one sender may have.
    const fair = Math.min(Math.floor(turnsAnHour / (colluders.length + 2)), bounds.wakesFromOneAgentAnHour)
    const own = turns.filter(({ at, senders }) => at > 3 * hourMs && senders.includes('@carl')).length
    expect(own).toBeGreaterThanOrEqual(Math.max(0, fair - 1))
  },
)

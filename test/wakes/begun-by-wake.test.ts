import { describe, expect, test } from 'vitest'
import { type Beginning, isBegunByWake } from '../../src/wakes/rules/begun-by-wake.ts'

const second = 1_000
const minute = 60 * second
/** A session that starts at an instant. `process`: its id and when it began, where it says so. */
const session = (createdAt: number, endedAt: number | null = null, process?: readonly [number, number]): Beginning => ({
  createdAt,
  endedAt,
  pid: process?.[0] ?? null,
  processStartedAt: process?.[1] ?? null,
})
const noon = 1_000 * minute

interface Case {
  readonly what: string
  readonly session: Beginning
  readonly former?: Beginning
  /** When the wakes of the agent arrived. */
  readonly wakes: readonly number[]
  readonly isBegun: boolean
}

// D29
const cases: readonly Case[] = [
  { what: 'no wake came', session: session(noon), wakes: [], isBegun: false },
  { what: 'the last wake is long ago', session: session(noon), wakes: [noon - 2 * minute], isBegun: false },
  {
    what: 'a wake came a second ago, and no session was there',
    session: session(noon),
    wakes: [noon - second],
    isBegun: true,
  },
  {
    what: 'its process began a second after a wake, and took minutes to start its session',
    session: session(noon, null, [7, noon - 5 * minute]),
    wakes: [noon - 5 * minute - second],
    isBegun: true,
  },
  {
    what: 'its process began before the wake, and starts its first session',
    session: session(noon, null, [7, noon - 10 * second]),
    wakes: [noon - second],
    isBegun: false,
  },
  {
    what: 'the clock of its process is a second slow',
    session: session(noon, null, [7, noon - 2 * second]),
    wakes: [noon - second],
    isBegun: true,
  },
  {
    what: 'one process starts a session for each wake',
    session: session(noon, null, [7, noon - 100 * minute]),
    former: session(noon - 10 * second, noon - 5 * second, [7, noon - 100 * minute]),
    wakes: [noon - second],
    isBegun: true,
  },
  {
    what: 'one process starts a session for each wake, and has not ended the last one',
    session: session(noon, null, [7, noon - 100 * minute]),
    former: session(noon - 10 * second, null, [7, noon - 100 * minute]),
    wakes: [noon - second, noon - 11 * second],
    isBegun: true,
  },
  {
    what: 'the session that was notified is gone: it was killed',
    session: session(noon),
    former: session(noon - 30 * minute),
    wakes: [noon - second],
    isBegun: false,
  },
  {
    what: 'the session that was notified is gone, and was sent what waited when it started',
    session: session(noon),
    former: session(noon - 30 * second, null, [7, noon - 31 * second]),
    wakes: [noon - 10 * second, noon - 29 * second],
    isBegun: false,
  },
  {
    what: 'the session that was notified has ended since then',
    session: session(noon),
    former: session(noon - 30 * minute, noon - 5 * second),
    wakes: [noon - 10 * second],
    isBegun: false,
  },
  {
    what: 'the last session had ended before the wake',
    session: session(noon),
    former: session(noon - 30 * minute, noon - minute),
    wakes: [noon - second],
    isBegun: true,
  },
  {
    what: 'the session that was notified is of a process that an earlier wake had begun, and never ended',
    session: session(noon),
    former: session(noon - 30 * minute),
    wakes: [noon - second, noon - 30 * minute - second],
    isBegun: true,
  },
]

describe('a session is begun by a wake', () => {
  test.each(cases)('$isBegun: $what', async ({ session, former, wakes, isBegun }) => {
    expect(await isBegunByWake(session, former, async () => wakes)).toBe(isBegun)
  })
})

// Whatever its processes do, a receiver that starts one for each wake is woken at most twice for what comes.
test('a chain of processes, each of which begins with the digest of the last, ends', async () => {
  for (const endsAfterMs of [null, 10, 500, 90 * second]) {
    const wakes = [noon]
    const sessions: Beginning[] = [session(noon - 3 * minute)]
    for (let round = 0; round < 10; round += 1) {
      const wakeAt = wakes.at(-1)!
      const next = session(wakeAt + second)
      const former = sessions.at(-1)
      sessions.push({ ...next, endedAt: endsAfterMs === null ? null : next.createdAt + endsAfterMs })
      if (await isBegunByWake(next, former, async () => wakes)) break
      wakes.push(next.createdAt + 1)
    }
    expect(wakes.length).toBeLessThanOrEqual(2)
  }
})

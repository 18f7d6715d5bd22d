import { type ActName, actNames, weights } from './acts.ts'
import { Chance } from './chance.ts'

/** One thing that happens in a history. `n` says about whom and how: it is read modulo what is there. */
export interface Act {
  readonly what: ActName
  /** ms since the act before it. */
  readonly after: number
  readonly n: readonly [number, number, number]
}

/** The kind of world that a history is in. */
interface Mix {
  readonly agents: number
  /** Seconds of the windows of the first subscriptions. */
  readonly window: number
  readonly retryForSeconds: number
  readonly maxInFlight: number
  /** How often something other than the first of what is ready runs next. */
  readonly disorder: number
  /** How long a flush takes at most, in ms. */
  readonly flushMs: number
  /** True: its agents have sessions and bridges from the start, and recovery may do all that it can. */
  readonly recovers: boolean
  /** True: a person has subscribed to what waits for one. */
  readonly isWatched: boolean
  /** True: a read may fail where a commit has just succeeded. */
  readonly isRemote: boolean
}

export interface History {
  readonly seed: string
  readonly mix: Mix
  readonly acts: readonly Act[]
}

/** Recovery takes minutes, and needs a harness that goes away. */
const slow: ReadonlySet<ActName> = new Set(['wait', 'leave', 'session'])

/** What matters most while wakes are on their way. */
const meeting: ReadonlySet<ActName> = new Set(['park', 'pause', 'cap', 'change', 'crash', 'restart', 'resync', 'full'])

const delays = [0, 0, 0, 5, 100, 1_000, 4_000, 20_000]

/** Writes a history: its seed first decides what may happen in it at all, and how often, so that no two are alike. */
export function historyOf(seed: string): History {
  const chance = new Chance(seed, 'history')
  const mix = {
    agents: 2 + chance.below(2),
    window: chance.of([0, 0, 0, 3, 30]),
    retryForSeconds: chance.of([0, 0, 60, 600]),
    maxInFlight: chance.of([1, 1, 1, 4]),
    disorder: chance.of([0, 0, 0.1, 0.5]),
    flushMs: chance.of([0, 0, 0, 5, 60]),
    recovers: chance.isLess(0.3),
    isWatched: chance.isLess(0.25),
    isRemote: chance.isLess(0.2),
  }
  const able = actNames.flatMap((what) => {
    const { weight, share } = weights[what]
    const isSlow = mix.recovers && slow.has(what)
    const factor = chance.of([0.3, 1, 1, 3]) * (isSlow ? 5 : 1)
    return chance.isLess(share) || isSlow ? [{ what, weight: weight * factor }] : []
  })
  const sum = able.reduce((total, { weight }) => total + weight, 0)
  const busy = delays.slice(0, 2 + chance.below(delays.length - 1))
  const acts = Array.from({ length: 10 + chance.below(50) }).flatMap((): Act[] => {
    const what = chosen(able, chance.fraction() * sum)
    const n = [chance.next(), chance.next(), chance.next()] as const
    if (!meeting.has(what) || chance.isLess(0.5)) return [{ what, after: chance.of(busy), n }]
    const mail: Act = { what: 'burst', after: chance.of(busy), n: [0, chance.next(), 0] }
    // A multiple of five is about the first agent.
    return [mail, { what, after: chance.of([1, 5, 50, 400]), n: [n[0] - (n[0] % 5), n[1], n[2]] }]
  })
  return { seed, mix, acts }
}

/** Of weighted acts the one at a place. */
function chosen(able: readonly { readonly what: ActName; readonly weight: number }[], place: number): ActName {
  let left = place
  for (const { what, weight } of able) {
    left -= weight
    if (left < 0) return what
  }
  return able[0]!.what
}

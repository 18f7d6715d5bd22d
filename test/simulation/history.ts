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
  /** One has a store of its own; several have one in common. */
  readonly gateways: number
  /** How long a way over the network to that store takes at most, in ms. */
  readonly storeMs: number
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

/** A few acts about one agent, one soon after the other. */
type Scene = readonly ActName[]

/** The worlds by what matters in them, and the scenes in which it meets. */
const worlds: Readonly<Record<'wakes' | 'calls' | 'recovery', readonly Scene[]>> = {
  wakes: [
    ['burst', 'park'],
    ['burst', 'pause', 'resume'],
    ['burst', 'cap', 'burst'],
    ['burst', 'change', 'park'],
    ['burst', 'change', 'pause', 'resume'],
    ['burst', 'full', 'cap', 'wait'],
    ['burst', 'crash'],
    ['burst', 'restart'],
    ['burst', 'resync'],
    ['burst', 'full'],
    ['manner', 'burst', 'burst'],
  ],
  calls: [
    ['crash', 'mint'],
    ['crash', 'mail'],
    ['full', 'mint', 'mail'],
    ['task', 'move', 'move', 'move'],
    ['claim', 'wait', 'claim', 'claim'],
    ['failing', 'mail', 'burst'],
    ['unreadable', 'burst', 'inbox'],
  ],
  recovery: [
    ['session', 'mail', 'leave', 'wait', 'wait'],
    ['session', 'mail', 'wait', 'wait'],
    ['mail', 'leave', 'gate', 'wait', 'wait'],
    ['gate', 'mail', 'wait', 'wait'],
    ['mail', 'leave', 'wait', 'crash', 'wait'],
    ['mail', 'presence', 'wait'],
  ],
}
const betweenGateways: readonly Scene[] = [
  ['burst', 'halt', 'burst', 'wait'],
  ['burst', 'crash', 'wait'],
  ['crash', 'mail', 'burst'],
  ['deafen', 'burst', 'pause', 'burst'],
  ['cut', 'burst', 'wait'],
]
/** These are faults between gateways. */
const ofSeveral: ReadonlySet<ActName> = new Set(['cut', 'deafen'])
const isOf = (scenes: readonly Scene[], what: ActName): boolean => scenes.some((scene) => scene.includes(what))

const delays = [0, 0, 0, 5, 100, 1_000, 4_000, 20_000]

/** Writes a history: its seed first decides what may happen in it at all, and how often, so that no two are alike. */
export function historyOf(seed: string): History {
  const chance = new Chance(seed, 'history')
  const world = chance.of(['wakes', 'calls', 'recovery'] as const)
  const gateways = chance.of([1, 1, 1, 2, 3])
  const mix = {
    gateways,
    storeMs: gateways === 1 ? 0 : chance.of([0, 0, 20]),
    agents: 2 + chance.below(2),
    window: chance.of([0, 0, 0, 3, 30]),
    retryForSeconds: chance.of([0, 0, 60, 600]),
    maxInFlight: chance.of([1, 1, 1, 4]),
    disorder: chance.of([0, 0, 0.1, 0.5]),
    flushMs: chance.of([0, 0, 0, 5, 60]),
    recovers: world === 'recovery',
    isWatched: chance.isLess(0.25),
    isRemote: chance.isLess(0.2),
  }
  const scenes = [...worlds[world], ...(gateways === 1 ? [] : betweenGateways)].filter(() => chance.isLess(0.5))
  const able = actNames.flatMap((what) => {
    const { weight, share } = weights[what]
    if (gateways === 1 && ofSeveral.has(what)) return []
    const factor = chance.of([0.3, 1, 1, 3])
    return chance.isLess(share) || isOf(scenes, what) ? [{ what, weight: weight * factor }] : []
  })
  const sum = able.reduce((total, { weight }) => total + weight, 0)
  const busy = delays.slice(0, 2 + chance.below(delays.length - 1))
  const next = (): readonly [number, number, number] => [chance.next(), chance.next(), chance.next()]
  const acts = Array.from({ length: 8 + chance.below(40) }).flatMap((): Act[] => {
    if (scenes.length === 0 || chance.isLess(0.6))
      return [{ what: chosen(able, chance.fraction() * sum), after: chance.of(busy), n: next() }]
    return chance.of(scenes).map((what, at): Act => {
      const n = next()
      // A multiple of five is about the first agent.
      return {
        what,
        after: at === 0 ? chance.of(busy) : chance.of([0, 1, 5, 50, 400]),
        n: [n[0] - (n[0] % 5), n[1], n[2]],
      }
    })
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

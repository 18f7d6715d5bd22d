/** A flush on the main thread that takes longer was slow, in ms: to hand the wait to another thread takes about as long. */
const quickMs = 1
/** From here on it was a stall, which others notice, in ms. */
const stallMs = 50
/** The same as `quickMs` on the other thread, where the way there and back counts too. */
const quickElsewhereMs = 10
/** How long after a flush the disk counts as awake, in ms. One that was idle is the likeliest to stall. */
const awakeMs = 100
/** How many quick flushes on the other thread bring the flushes back to the main one: after its first stall, and at most. */
const way = { first: 20, max: 5_000 } as const

/** The facts about a disk. The instant is in ms. */
export interface DiskPace {
  /** How many quick flushes on the other thread are missing before the main one tries again. */
  readonly missing: number
  /** How many it takes after a slow flush elsewhere; after a stall of the main thread twice as many. */
  readonly way: number
  readonly endedAt: number
}

export const unknownPace: DiskPace = { missing: 0, way: way.first / 2, endedAt: Number.NEGATIVE_INFINITY }

/** True when the main thread waits for the next flush itself. Pure. */
export function flushesHere({ missing, endedAt }: DiskPace, now: number): boolean {
  return missing === 0 && now - endedAt <= awakeMs
}

/** Returns what is known after a flush. Each stall of the main thread doubles the way back to it. Pure. */
export function afterFlush(pace: DiskPace, isHere: boolean, startedAt: number, endedAt: number): DiskPace {
  const tookMs = endedAt - startedAt
  const isQuick = tookMs <= (isHere ? quickMs : quickElsewhereMs)
  if (isQuick) return { ...pace, missing: Math.max(0, pace.missing - 1), endedAt }
  if (isHere && tookMs < stallMs) return { ...pace, missing: way.first, endedAt }
  const longer = isHere ? Math.min(2 * pace.way, way.max) : Math.max(way.first, pace.way)
  return { missing: longer, way: longer, endedAt }
}

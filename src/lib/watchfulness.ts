/** One look at both clocks, in ms: the wall clock, and one that does not run while the machine sleeps. */
interface Look {
  readonly wall: number
  readonly steady: number
}

/** The result of the looks so far. `calm`: how many have passed since the start, or since a gap. */
interface Watchfulness {
  readonly last: Look | null
  readonly calm: number
  readonly hasGap: boolean
}

export const justStarted: Watchfulness = { last: null, calm: 0, hasGap: false }

/** The two clocks may differ by this much between two looks, and a look may come late by four times as much. */
const slackMs = 15_000
/** A step of the clock may lie between two reads, so that one look alone does not show it. */
const calmLooks = 2

/**
 * Compares a look with the last one. A machine that slept, a clock that was set and a process that was stopped all show as a gap: what is
 * stale then is not the agents' fault. `lateMs`: so late a look may be. Pure. Source: S3-4.
 */
export function watch(
  { last, calm, hasGap }: Watchfulness,
  look: Look,
  everyMs: number,
  lateMs = 4 * slackMs,
): Watchfulness {
  if (last === null) return { last: look, calm: 0, hasGap }
  const steadyMs = look.steady - last.steady
  const isOdd = Math.abs(look.wall - last.wall - steadyMs) > slackMs || steadyMs > everyMs + lateMs
  return { last: look, calm: isOdd ? 0 : calm + 1, hasGap: hasGap || isOdd }
}

/** The end of a look: its own time is no gap, and a step of the clock within it is one. Pure. */
export function endLook(seen: Watchfulness, look: Look): Watchfulness {
  if (seen.last === null) return seen
  const isOdd = Math.abs(look.wall - seen.last.wall - (look.steady - seen.last.steady)) > slackMs
  return { last: look, calm: isOdd ? 0 : seen.calm, hasGap: seen.hasGap || isOdd }
}

/** True: two looks in a row were as they should be. Pure. */
export const isCalm = ({ calm }: Watchfulness): boolean => calm >= calmLooks

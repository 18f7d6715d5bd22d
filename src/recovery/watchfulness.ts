/** One look at both clocks, in ms: the wall clock, and one that does not run while the machine sleeps. */
export interface Look {
  readonly wall: number
  readonly steady: number
}

/** What two looks in a row say. `calm`: how many looks have passed since anything was wrong. */
export interface Watchfulness {
  readonly last: Look | null
  readonly calm: number
}

export const justStarted: Watchfulness = { last: null, calm: 0 }

/** The wall clock may run ahead of the steady one by this much between two looks. */
const slackMs = 15_000
/** A step of the clock may lie between two reads, so that one look alone does not show it. */
const calmLooks = 2

/**
 * Compares a look with the last one. A machine that slept, a clock that was set and a process that was stopped all show as a gap: what is
 * stale then is not the agents' fault. Pure. Source: S3-4.
 */
export function watch({ last, calm }: Watchfulness, look: Look, everyMs: number): Watchfulness {
  if (last === null) return { last: look, calm: 0 }
  const wallMs = look.wall - last.wall
  const steadyMs = look.steady - last.steady
  const isOdd = Math.abs(wallMs - steadyMs) > slackMs || steadyMs > everyMs + slackMs * 4
  return { last: look, calm: isOdd ? 0 : calm + 1 }
}

/** Whether two looks in a row were as they should be. Pure. */
export const isCalm = ({ calm }: Watchfulness): boolean => calm >= calmLooks

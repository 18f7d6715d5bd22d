/** The longest time that an agent is parked: eight days, so that a wrong clock silences nobody for long. */
export const parkedMsMax = 8 * 24 * 3_600_000

const minuteMs = 60_000
const hourMs = 60 * minuteMs
/** A limit that comes again within this time, or within the length of the last park, has not ended. */
const againMs = 5 * minuteMs

/** A park that a limit without a usable reset has caused. */
export interface ShortPark {
  /** ms since the epoch */
  readonly until: number
  readonly lastedMs: number
}

/**
 * Returns until when a limit parks, by the reset that a harness has named, which may be past, or seconds away: then it is a minute, and twice as long
 * each time that the limit goes on, up to an hour. null: until a person acts. Instants in ms since the epoch. Pure. Source: D50.
 */
export function parkedUntil(
  named: number | null,
  now: number,
  last?: ShortPark,
): { readonly until: number | null; readonly short?: ShortPark } {
  if (named === null) return { until: null }
  if (named > now + minuteMs) return { until: Math.min(named, now + parkedMsMax) }
  const goesOn = last !== undefined && now - last.until < Math.max(againMs, last.lastedMs)
  const lastedMs = goesOn ? Math.min(last.lastedMs * 2, hourMs) : minuteMs
  return { until: now + lastedMs, short: { until: now + lastedMs, lastedMs } }
}

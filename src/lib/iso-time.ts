import { z } from 'zod'

const written = z.iso.datetime({ offset: true })
let last = { second: Number.NaN, text: '' }

/**
 * Returns an instant (whole ms since the epoch) in ISO 8601, as Date does. The text of the last second is kept: an event has several
 * instants, and most are of the same second.
 */
export function isoTime(at: number): string {
  const second = Math.floor(at / 1000)
  if (second !== last.second) last = { second, text: new Date(at).toISOString().slice(0, -4) }
  return `${last.text}${String(at - second * 1000).padStart(3, '0')}Z`
}

/** Returns ms since the epoch; undefined for a text that is no instant in ISO 8601. `Date.parse` also takes others, and `-1` as a year. */
export function readIsoTime(text: string): number | undefined {
  return written.safeParse(text).success ? Date.parse(text) : undefined
}

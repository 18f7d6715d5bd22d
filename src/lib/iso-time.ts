let last = { at: Number.NaN, text: '' }

/** Returns an instant (ms since the epoch) in ISO 8601, as Date does. The text of the last instant is kept: many things happen in the same millisecond. */
export function isoTime(at: number): string {
  if (at !== last.at) last = { at, text: new Date(at).toISOString() }
  return last.text
}

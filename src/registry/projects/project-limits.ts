import type { LimitName, LimitOverrides } from '../../limits.ts'

const none: LimitOverrides = {}
/** A cache, so that a request costs a look-up and no parse. */
const known = new Map<string, LimitOverrides>()
const knownMax = 1_000

/** Parses the limits of a project that differ from the defaults. `text`: JSON, or null for none. */
export function readOverrides(text: string | null): LimitOverrides {
  if (text === null) return none
  let overrides = known.get(text)
  if (!overrides) {
    overrides = JSON.parse(text) as LimitOverrides
    if (known.size >= knownMax) known.clear()
    known.set(text, overrides)
  }
  return overrides
}

/** Applies changes: a number sets a limit, null removes it. Returns the JSON to store, or null for none. */
export function changeOverrides(
  before: LimitOverrides,
  changes: { readonly [Name in LimitName]?: number | null | undefined },
): string | null {
  const given = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null && value !== undefined)
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given.sort()))
}

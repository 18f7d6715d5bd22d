import type { LimitName, LimitOverrides } from '../../share-limits.ts'

const none: LimitOverrides = {}
/** The same text is the same object: a request pays for a look-up. */
const known = new Map<string, LimitOverrides>()
const knownMax = 1_000

/** The overrides of a project as its row has them: JSON, or null for none. */
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

/** The overrides after a change: a number sets one, null takes it away. Returns the text to keep, or null for none. */
export function changeOverrides(
  before: LimitOverrides,
  changes: { readonly [Name in LimitName]?: number | null | undefined },
): string | null {
  const given = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null && value !== undefined)
  return given.length === 0 ? null : JSON.stringify(Object.fromEntries(given.sort()))
}

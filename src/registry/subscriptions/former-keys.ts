/** A signing key that a rotation replaced. Both fields are as they are stored: the key is sealed. */
export interface FormerKey {
  readonly key: string
  /** It signs beside the newer ones until then. */
  readonly until: number
}

/** How many former keys sign at a time. Source: D36. */
export const formerKeysMax = 3

/** The longest overlap of a rotation: seven days. */
export const overlapMaxSeconds = 7 * 24 * 3600

/** The longest promise, and a minute for clocks that differ. */
const promiseMaxMs = (overlapMaxSeconds + 60) * 1000

/**
 * Returns the former keys that still sign, the newest first. An instant that no rotation can have promised is of a clock that was
 * ahead, and is not believed.
 */
export function signingFormerKeys({ formerKeys }: { formerKeys: readonly FormerKey[] }, now: number): FormerKey[] {
  return formerKeys.filter(({ until }) => until > now && until <= now + promiseMaxMs)
}

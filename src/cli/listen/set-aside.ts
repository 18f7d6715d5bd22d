/** Failed runs of a wake after which the next one may be tried. */
const triesMin = 3
/** More wakes than anybody looks through. */
const asideMax = 64
const spacingMs = { first: 60_000, max: 1_800_000 } as const
const retryMs = { first: 8_000, max: 300_000 } as const

/** The facts that tell a text that makes a command fail from a command that fails for any text. Instants in ms since the epoch. */
interface Trouble {
  /** Failed runs of the wake that has its turn. */
  readonly failures: number
  /** The wakes that are set aside. */
  readonly count: number
  /** Those of them that were since a run last succeeded. */
  readonly sinceSuccess: number
  readonly lastAt: number
}

/**
 * True when a failing wake is set aside, and the next one tried in its place: if that one succeeds the text is at fault, else the command. Each one
 * more without a success waits twice as long, up to half an hour, so a command that is broken is not run for all that waits. Pure.
 */
export function isSetAside({ failures, count, sinceSuccess, lastAt }: Trouble, now: number): boolean {
  if (failures < triesMin || count >= asideMax) return false
  return sinceSuccess === 0 || now - lastAt >= Math.min(spacingMs.first * 2 ** (sinceSuccess - 1), spacingMs.max)
}

/** Returns the wait until one of those that are set aside is tried, after so many tries since a run last succeeded. In ms. Pure. */
export const asideWaitMs = (tries: number): number => Math.min(retryMs.first * 2 ** Math.min(tries, 20), retryMs.max)

/** True when a wake that is set aside has been tried often and long enough. Pure. */
export function isGivenUp(
  { failures, firstAt }: { readonly failures: number; readonly firstAt: number },
  retryForMs: number,
  now: number,
): boolean {
  return failures > triesMin && now - firstAt >= retryForMs
}

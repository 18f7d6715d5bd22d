import type { Sweep } from '../lib/sweeper.ts'

/** The longest time after which a gateway notices that a key was replaced elsewhere, or has ended. */
export const keyWatchMs = 5_000

/** Reads the stored keys regularly, so that a replaced key needs no restart. */
export function keyWatch(refresh: () => Promise<void>): Sweep {
  return {
    name: 'key-watch',
    everyMs: keyWatchMs,
    firstAfterMs: keyWatchMs,
    async run() {
      await refresh()
      return false
    },
  }
}

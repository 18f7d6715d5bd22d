import type { Sweep } from '../lib/sweeper.ts'

/** The longest time after which a gateway notices that a card key was replaced elsewhere. */
export const keyWatchMs = 5_000

/** How often a gateway reads the admin keys. A key that has ended is refused within a second, and reading takes some of that. */
const adminWatchMs = 500

/** Reads the stored card keys regularly, so that a replaced key needs no restart. */
export function keyWatch(refresh: () => Promise<void>): Sweep {
  return watch('key-watch', keyWatchMs, refresh)
}

/** Reads the stored admin keys regularly. While the store does not answer, only the first failure is reported. */
export function adminWatch(refresh: () => Promise<void>): Sweep {
  let isFailing = false
  return watch('admin-key-watch', adminWatchMs, async () => {
    try {
      await refresh()
      isFailing = false
    } catch (error) {
      if (isFailing) return
      isFailing = true
      throw error
    }
  })
}

function watch(name: string, everyMs: number, refresh: () => Promise<void>): Sweep {
  return {
    name,
    everyMs,
    firstAfterMs: everyMs,
    async run() {
      await refresh()
      return false
    },
  }
}

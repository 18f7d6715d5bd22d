import type { Wake } from './wake.ts'

/** Far more than a gateway retries at one time. */
const rememberedMax = 10_000

/** Delivery is at least once: this is the receiver's half of "exactly once", and its detector of holes. */
export interface SeenWakes {
  /** False for a wake that has come before. */
  add(wake: Wake): boolean
  /** The `logId` after which something is missing before this wake, if anything is. Ask before `add`. */
  gapBefore(wake: Wake): number | undefined
}

export function createSeenWakes(): SeenWakes {
  const eventIds = new Set<string>()
  const lastLogIds = new Map<string, number>()
  return {
    add(wake) {
      if (eventIds.has(wake.eventId)) return false
      eventIds.add(wake.eventId)
      if (eventIds.size > rememberedMax) eventIds.delete(eventIds.values().next().value!)
      if (wake.subscriptionId && typeof wake.logId === 'number') lastLogIds.set(wake.subscriptionId, wake.logId)
      return true
    },
    gapBefore(wake) {
      const last = wake.subscriptionId ? lastLogIds.get(wake.subscriptionId) : undefined
      // A replay starts behind what was seen, and that is no hole.
      return last !== undefined && typeof wake.prevLogId === 'number' && wake.prevLogId > last ? last : undefined
    },
  }
}

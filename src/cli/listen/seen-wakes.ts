import type { Wake } from '../../client/wakes/wake.ts'

/** Far more than a gateway retries at one time. */
const rememberedMax = 10_000

/** Delivery is at least once: the receiver drops repetitions, and detects gaps. */
interface SeenWakes {
  /** Returns false for a wake that was seen before. */
  add(wake: Wake): boolean
  /** The `logId` after which wakes are missing before this one; undefined without a gap. Call it before `add`. */
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
      // A replay starts before what was seen: that is not a gap.
      return last !== undefined && typeof wake.prevLogId === 'number' && wake.prevLogId > last ? last : undefined
    },
  }
}

import type { DeliveryResult } from '../channel.ts'

/** Failed events in a row that make a subscription degraded. Source: S1-34. */
export const failuresMax = 3

/** Returns how many events have failed in a row after this one. An event that is itself the cause neither adds nor resets. */
export function failedInARowAfter({ outcome, isOfEvent }: DeliveryResult, before: number): number {
  if (outcome !== 'failed') return 0
  return isOfEvent ? before : before + 1
}

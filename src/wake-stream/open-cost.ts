/** Subscriptions that one stream of wakes reads. */
export const subscriptionsMax = 50
/** So many subscriptions cost the gateway as much as one small request: a transaction locks and reads each, and most are written. */
const subscriptionsOfOne = 5

/** Returns how many requests the opening of a stream of wakes counts as, beside the one that it is. Pure. */
export function furtherRequests(subscriptions: number): number {
  return Math.floor(subscriptions / subscriptionsOfOne)
}

/** Returns how many changes the opening of a stream of wakes counts as: each subscription is connected, and later disconnected. Pure. */
export function changesOf(subscriptions: number): number {
  return 2 * subscriptions
}

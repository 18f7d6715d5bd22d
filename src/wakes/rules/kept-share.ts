/** How many rows of one kind the subscriptions of an agent keep: together, and each at least. */
export interface KeptBounds {
  readonly ofAgent: number
  readonly ofEach: number
}

/** A subscription is trimmed when it got this part of its share. */
const part = 4

/** How many rows each of an agent's subscriptions keeps. */
export function shareOf({ ofAgent, ofEach }: KeptBounds, subscriptions: number): number {
  return Math.max(ofEach, Math.floor(ofAgent / Math.max(1, subscriptions)))
}

/** How many new rows make it worth while to trim a subscription with this share. */
export function trimAfter(share: number): number {
  return Math.ceil(share / part)
}

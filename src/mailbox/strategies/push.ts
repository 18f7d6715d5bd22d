import type { DeliveryStrategy } from './strategy.ts'

/** For surfaces that a wake reaches: what no wake brings, or did not bring in time, goes along with the next answer. Source: S2-13. */
export const push: DeliveryStrategy = {
  supportsPush: true,
  deliver: ({ pushedBy, now }) => pushedBy === undefined || now >= pushedBy,
}

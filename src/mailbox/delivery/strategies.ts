import { surfaces } from '../../words/surfaces.ts'

/** Waiting mail at the moment at which the answer to its recipient's own call could carry it. */
interface Occasion {
  readonly wakePolicy: string
  readonly createdAt: number
  /** Until when a wake for the mail may be on its way, ms since the epoch; undefined: no subscription wakes for it. */
  readonly wakeBy: number | undefined
  readonly now: number
}

/** How mail reaches an agent on one surface. Source: S2-12. */
export interface DeliveryStrategy {
  /** True when a wake can bring mail to this surface. */
  readonly usesWakes: boolean
  /** True when the answer to the agent's own call carries the mail; false leaves it to the wake. Pure. */
  mayPiggyback(occasion: Occasion): boolean
}

/** For every surface: the answer to the agent's next call carries the mail. Source: S2-14. */
export const piggyback: DeliveryStrategy = { usesWakes: false, mayPiggyback: () => true }

/** For surfaces that a wake reaches: an answer carries only what no wake brings, or did not bring in time. Source: S2-13. */
export const wake: DeliveryStrategy = {
  usesWakes: true,
  mayPiggyback: ({ wakeBy, now }) => wakeBy === undefined || now >= wakeBy,
}

export type Strategies = Readonly<Record<string, DeliveryStrategy>>

/** The strategy of each surface, by the name that a session gives its surface. Source: S2-16. */
export const strategies: Strategies = Object.fromEntries(
  Object.entries(surfaces).map(([name, { isWoken }]) => [name, isWoken ? wake : piggyback]),
)

/** Returns the strategy of a surface. Unknown surfaces piggyback, which works everywhere. */
export function strategyOf(known: Strategies, surface: string): DeliveryStrategy {
  return Object.hasOwn(known, surface) ? known[surface]! : piggyback
}

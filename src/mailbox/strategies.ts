import { piggyback } from './strategies/piggyback.ts'
import { push } from './strategies/push.ts'
import type { DeliveryStrategy } from './strategies/strategy.ts'

export type Strategies = Readonly<Record<string, DeliveryStrategy>>

/** The strategy of each surface, as a session names it. A new one is a file beside these and a line here. Source: S2-16. */
export const strategies: Strategies = {
  claude_code: push,
  claude_desktop: piggyback,
  codex: push,
  cursor: piggyback,
}

/** The strategy of a surface; one that is not known piggybacks, which works everywhere. */
export function strategyOf(known: Strategies, surface: string): DeliveryStrategy {
  return Object.hasOwn(known, surface) ? known[surface]! : piggyback
}

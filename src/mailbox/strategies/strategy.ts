/** Mail at the moment at which an agent's own call could take it along. */
export interface Occasion {
  readonly wakePolicy: string
  readonly createdAt: number
  /** How long a wake for it may still be on its way (ms since the epoch); undefined: none will come. */
  readonly pushedBy: number | undefined
  readonly now: number
}

/** How mail comes to an agent on one surface. Source: S2-12. */
export interface DeliveryStrategy {
  /** Whether it reaches the agent without a call of the agent's own. */
  readonly supportsPush: boolean
  /** Whether mail goes along with the answer to the agent's call; false leaves it to the wake that is on its way. Pure. */
  deliver(occasion: Occasion): boolean
}

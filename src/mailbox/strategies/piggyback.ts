import type { DeliveryStrategy } from './strategy.ts'

/** For every surface: mail goes along with the answer to whatever the agent asks next. Source: S2-14. */
export const piggyback: DeliveryStrategy = { supportsPush: false, deliver: () => true }

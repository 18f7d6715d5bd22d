import type { Reason } from '../../wakes/rules/sender-view.ts'

/**
 * The detail of a wake that is held, as the gateway is told: `turn_active: a turn runs`. The word before the colon is what the sender
 * may know. Pure.
 */
export const heldDetail = ({ reason, detail }: { readonly reason: Reason; readonly detail: string }): string =>
  `${reason}: ${detail}`

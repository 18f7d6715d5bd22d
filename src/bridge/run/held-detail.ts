import type { Reason } from '../../words/sender-view.ts'

/**
 * The detail of a wake that is held, as it is reported to the gateway: `turn_active: a turn runs`. The word before the colon is what the sender
 * may know. Pure.
 */
export const heldDetail = ({ reason, detail }: { readonly reason: Reason; readonly detail: string }): string =>
  `${reason}: ${detail}`

import type { PresenceState } from '../words/presence.ts'
import type { Reason } from '../words/sender-view.ts'

/**
 * Returns what a sender may know of why its wake is held, by the state of the conversation. One that is idle is held for something that is
 * not its state: `otherwise`. Pure.
 */
export function reasonOfState(state: PresenceState | undefined, otherwise: Reason = 'cannot_start_turn'): Reason {
  return state === undefined || state === 'idle' ? otherwise : ofState[state]
}

const ofState: Readonly<Record<Exclude<PresenceState, 'idle'>, Reason>> = {
  active: 'turn_active',
  waitingOnApproval: 'waiting_on_approval',
  userTyping: 'user_typing',
  unknown: 'presence_unknown',
}

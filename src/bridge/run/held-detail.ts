import type { PresenceState } from '../../registry/sessions/presence.ts'
import type { Reason } from '../../wakes/rules/told-steps.ts'
import type { AttemptEnd } from './attempt.ts'

/**
 * The detail of a wake that is held, as the gateway is told: `turn_active: a turn runs`. The word before the colon is what the sender
 * may know. Without one that is known, the sentence alone. Pure.
 */
export function heldDetail(end: AttemptEnd): string {
  const reason = reasonOf(end)
  return reason === undefined ? end.detail : `${reason}: ${end.detail}`
}

function reasonOf(end: AttemptEnd): Reason | undefined {
  if ('reason' in end && end.reason !== undefined) return end.reason
  if (end.session === undefined) return undefined
  return end.session.route === undefined ? 'cannot_start_turn' : ofState[end.session.state]
}

/** A conversation that was idle a moment ago is held for something that its adapter has seen since. */
const ofState: Readonly<Record<PresenceState, Reason | undefined>> = {
  idle: undefined,
  active: 'turn_active',
  waitingOnApproval: 'waiting_on_approval',
  userTyping: 'user_typing',
  unknown: 'presence_unknown',
}

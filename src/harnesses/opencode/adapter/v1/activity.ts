import type { WakeEnd } from '../../../../bridge/adapter.ts'
import { reasonOfState } from '../../../../bridge/reason-of-state.ts'
import type { PresenceState } from '../../../../words/presence.ts'
import type { V1Api } from './api.ts'

/** The activity of a server's conversations now. */
export interface Activity {
  readonly busy: ReadonlySet<string>
  /** Conversations with an approval or a question that waits for the user, also in a subagent. */
  readonly asking: ReadonlySet<string>
}

/** Rejects when the activity cannot be read. Then nothing is known, and no wake may be handed over. */
export async function readActivity(api: V1Api, signal: AbortSignal): Promise<Activity> {
  const [busy, asking] = await Promise.all([api.busy(signal), api.asking(signal)])
  const parents = await Promise.all([...asking].map(async (id) => (await api.session(id, signal))?.parentID))
  return { busy, asking: new Set([...asking, ...parents.filter((id) => typeof id === 'string')]) }
}

/** Returns the state of one conversation. Pure. Source: S1-8. */
export function stateOf(sessionId: string, { busy, asking }: Activity): PresenceState {
  if (asking.has(sessionId)) return 'waitingOnApproval'
  return busy.has(sessionId) ? 'active' : 'idle'
}

/** Why a conversation is not woken now; undefined: it is idle. Pure. Source: S1-10…S1-12. */
export function heldBy(state: PresenceState): Extract<WakeEnd, { step: 'held' }> | undefined {
  if (state === 'idle') return undefined
  return { step: 'held', detail: words[state], reason: reasonOfState(state) }
}

const words: Readonly<Record<Exclude<PresenceState, 'idle'>, string>> = {
  active: 'A turn is running.',
  waitingOnApproval: 'It waits for an approval or an answer of its user.',
  userTyping: 'Its user is typing.',
  unknown: 'What it is doing cannot be read.',
}

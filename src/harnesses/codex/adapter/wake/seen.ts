import type { PresenceState } from '../../../../words/presence.ts'
import type { QueueEntry, Turn } from '../app-server.ts'

/** Where a wake is, and what its thread does. */
export interface WakePlace {
  /** The turn that has it. */
  readonly turnId?: string | undefined
  /** Its id in the queue. */
  readonly queuedId?: string | undefined
  /** `closed`: no process has the thread open. `unknown`: one may, and what it does cannot be seen. */
  readonly state: PresenceState | 'closed'
  /** True when it cannot be determined that some process has the thread open. */
  readonly maybeClosed?: boolean
  /** True when the state came from a hook, so that the next change comes from one too. */
  readonly isSaidByHook?: true
}

/** The name that a wake has in Codex. It is looked for before each act: Codex takes the same one twice. */
export const labelOf = (wakeId: string): string => `rouse-${wakeId}`

/** Returns where a wake is. One that is in the queue twice is there. Pure. */
export function findIn(
  label: string,
  queue: readonly QueueEntry[],
  turns: readonly Turn[],
): Pick<WakePlace, 'turnId' | 'queuedId'> {
  const turn = turns.find(({ items }) => items.some((item) => item.type === 'userMessage' && item.clientId === label))
  const queued = queue.find(({ clientUserMessageId }) => clientUserMessageId === label)
  return { turnId: turn?.id, queuedId: queued?.id }
}

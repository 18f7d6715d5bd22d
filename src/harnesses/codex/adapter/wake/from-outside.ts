import type { ReportedConversation } from '../../../../bridge/local/clients.ts'
import type { Turn } from '../app-server.ts'
import type { Writers } from '../writers.ts'
import type { Seen } from './seen.ts'

/** What can be known of a thread whose process cannot be queried. */
export interface Outside {
  /** Who has the threads of its home open; undefined: it cannot be determined. */
  readonly writers: Writers | undefined
  /** Whether a process is known to have it open all the same. */
  readonly isOpenElsewhere: boolean
  /** What the hooks of Codex have said last. */
  readonly reported: readonly ReportedConversation[]
}

/**
 * Returns what a thread does, as far as can be seen from outside. Only a question to its user is taken from a hook: that it is idle
 * does not say when it looks into its queue. `turns`: its last ones, as they are on the disk. Pure.
 */
export function stateFromOutside(
  threadId: string,
  { writers, isOpenElsewhere, reported }: Outside,
  turns: readonly Turn[],
): Pick<Seen, 'state' | 'maybeClosed' | 'isSaidByHook'> {
  const writer = writers?.get(threadId)
  if (writers && !writer && !isOpenElsewhere) return { state: 'closed', maybeClosed: false }
  const maybeClosed = writers === undefined && !isOpenElsewhere
  const last = reported.find(({ conversationId }) => conversationId === threadId)
  const asks = last !== undefined && isOpenQuestion(last, writer?.pid, turns)
  return asks ? { state: 'waitingOnApproval', maybeClosed, isSaidByHook: true } : { state: 'unknown', maybeClosed }
}

/** A process that was killed tells no end of its question, and the hook that ends a turn may have met no bridge. */
function isOpenQuestion(
  { state, process, activeTurnId }: ReportedConversation,
  pid: number | undefined,
  turns: readonly Turn[],
): boolean {
  if (state !== 'waitingOnApproval') return false
  if (pid && process && process.pid !== pid) return false
  return !turns.some(({ id, status }) => id === activeTurnId && status === 'completed')
}

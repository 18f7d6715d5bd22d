import type { CodexAccess } from '../access.ts'
import { isOpenSomewhere, locateThread } from '../locate.ts'
import { turnsToLook } from '../settings.ts'
import { anyOf } from './pause.ts'
import { findIn, labelOf } from './seen.ts'

/** More turns than begin while a bridge is away. */
const turnsLooked = 50
const attempts = { count: 3, everyMs: 1_000 } as const

export type CodexFindResult = 'turn_started' | 'waits' | 'absent' | 'unknown'

/**
 * Finds the outcome of a wake that was handed over before. A wake that waits in the queue of a closed conversation is taken back, so that
 * it does not begin a turn days later: the result is `absent`.
 */
export async function findWake(
  access: CodexAccess,
  threadId: string,
  wakeId: string,
  signal: AbortSignal,
): Promise<CodexFindResult> {
  for (let attempt = 0; attempt < attempts.count && !signal.aborted; attempt++) {
    if (attempt > 0) await anyOf(signal, [], attempts.everyMs)
    try {
      return await lookOnce(access, threadId, labelOf(wakeId))
    } catch {
      // Another look says more than the reason of this one.
    }
  }
  return 'unknown'
}

/** Takes a wake out of the queue of its thread. Resolves with true when it was still there. Errors: Codex does not answer. */
export async function takeBackWake(access: CodexAccess, threadId: string, wakeId: string): Promise<boolean> {
  const located = await locateThread(access, threadId)
  if (!located) return false
  await using server = located.kind === 'loaded' ? located.server : await access.ofHome(located.home)
  const { queuedId } = findIn(labelOf(wakeId), await server.queued(threadId), [])
  return queuedId !== undefined && (await server.dequeue(threadId, queuedId))
}

async function lookOnce(access: CodexAccess, threadId: string, label: string): Promise<CodexFindResult> {
  const located = await locateThread(access, threadId)
  if (!located) return 'unknown'
  await using server = located.kind === 'loaded' ? located.server : await access.ofHome(located.home)
  // First the queue: what leaves it between the two looks is in a turn.
  const queue = await server.queued(threadId)
  const { turnId, queuedId } = findIn(
    label,
    queue,
    await server.turns(threadId, turnsToLook(access.settings, turnsLooked)),
  )
  if (turnId !== undefined) return 'turn_started'
  if (queuedId === undefined) return 'absent'
  const isClosed = located.kind === 'stored' && (await isOpenSomewhere(located.home, threadId)) === false
  return isClosed && (await server.dequeue(threadId, queuedId)) ? 'absent' : 'waits'
}

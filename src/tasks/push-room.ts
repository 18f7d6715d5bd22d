import { Problem } from '../errors.ts'
import { sizeLimits } from '../limits.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { limitFor, requireRoom } from '../registry/callers/caller-limits.ts'
import { countPushes, removeOldestFinished } from '../registry/subscriptions/finished-push-store.ts'
import { taskFinished } from '../registry/subscriptions/status.ts'
import { countLivePushes } from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import type { TaskContext } from './context.ts'

/** How many finished configs are removed at once, so that the next ones need no room. */
const finishedMax = 100

/** Requires that a caller with `ofTask` configs on a task may have one more. Finished configs elsewhere give way. Errors: `limit-exceeded`. */
export async function requireRoomForConfig(tx: Transaction, caller: Caller, ofTask: number): Promise<void> {
  if (caller.kind === 'operator') return
  const remedy = 'Delete configs that are not used.'
  if (ofTask >= sizeLimits.items.max) throw tooMany(ofTask, remedy)
  requireRoom(caller, 'owned', await countLivePushes(tx, caller.id), remedy)
}

function tooMany(max: number, remedy: string): Problem {
  return new Problem('limit-exceeded', {
    detail: `You have ${max} push notification configs on this task, and may have no more. ${remedy}`,
    extra: { limit: 'items', max },
  })
}

/**
 * Removes the caller's oldest finished configs where it has as many configs as an agent may have. They send nothing, but each may hold
 * tens of kilobytes. Those of one project: its log is locked already, and has an event about each.
 */
export async function makeRoomForConfig(
  { append }: Pick<TaskContext, 'append'>,
  tx: Transaction,
  caller: Caller,
  projectId: string,
): Promise<void> {
  const max = limitFor(caller, 'owned')
  if (caller.kind === 'operator' || max === 0) return
  if ((await countPushes(tx, caller.id, max)) < max) return
  const limit = Math.min(finishedMax, Math.ceil(max / 10))
  const range = { agentId: caller.id, projectId, limit, among: max + finishedMax }
  const removed = await removeOldestFinished(tx, range)
  const events = removed.map(({ taskId, configId }) => ({
    type: 'push_config.deleted' as const,
    actor: caller.identity,
    audience: [],
    taskId,
    data: { taskId, configId, reason: taskFinished },
  }))
  if (events.length > 0) await append(tx, projectId, events)
}

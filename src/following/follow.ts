import { Problem } from '../errors.ts'
import type { MailWaits } from '../mailbox/delivery/mail-waits.ts'
import type { LookForMail } from '../mailbox/delivery/mail-watch.ts'
import { readUrgent } from '../mailbox/delivery/waiting-store.ts'
import type { Caller } from '../registry/callers/caller.ts'
import {
  cancelFollower,
  type Follower,
  findFollower,
  insertFollower,
  newFollowerId,
} from '../registry/followers/follower-store.ts'
import { newestLiveSession } from '../registry/sessions/session-lists.ts'
import type { Reader } from '../storage/database.ts'
import type { TaskContext } from '../tasks/context.ts'
import { waitForTask } from '../tasks/follow-task.ts'
import { requireTask } from '../tasks/read-task.ts'
import { isSettled } from '../tasks/state.ts'
import { isOwnFollower, nextPollMs } from './view.ts'

export interface FollowingContext extends TaskContext {
  /** The waits for mail of followers. */
  readonly followerWaits: MailWaits
}

/** The time in which an end makes a following needless. */
const momentMs = 250

/** Finds mail that ends the wait of a follower: all that wakes its agent. The follower is its route, so it waits for no other. */
export const lookForFollower: LookForMail = async ({ db }, agentId) =>
  (await readUrgent(db, agentId, 1)).length > 0 ? 0 : undefined

/**
 * Begins to follow a task of the caller, or its next mail. Resolves when that is durable; to undefined where there is nothing to wait for: the
 * task ends or asks within a moment, or mail is there. Errors: `task-not-found`, `forbidden`.
 * @param taskId absent: the next mail
 */
export async function beginFollowing(
  context: FollowingContext,
  caller: Caller,
  taskId: string | undefined,
  signal: AbortSignal,
): Promise<Follower | undefined> {
  const { db } = context
  if (await isThere(context, caller, taskId, signal)) return undefined
  return db.transaction(async (tx) => {
    const session = await newestLiveSession(tx, caller.id)
    const follower = {
      id: newFollowerId(),
      projectId: caller.projectId,
      agentId: caller.id,
      keyId: caller.keyId,
      taskId: taskId ?? null,
      sessionId: session?.id ?? null,
      createdAt: tx.now,
      polledAt: tx.now,
      heldUntil: tx.now + nextPollMs,
      deliveredAt: null,
      cancelledAt: null,
    }
    await insertFollower(tx, follower)
    return follower
  })
}

async function isThere(
  context: FollowingContext,
  caller: Caller,
  taskId: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  if (taskId === undefined) return (await readUrgent(context.db, caller.id, 1)).length > 0
  await requireTask(context.db, caller, taskId)
  const task = await waitForTask(context, taskId, { isDone: isSettled, timeoutMs: momentMs, signal })
  return isSettled(task.state)
}

/** Ends a following, and nothing else: the task that is followed goes on. A second time changes nothing. Errors: `not-found`. */
export async function endFollowing({ db }: FollowingContext, caller: Caller, id: string): Promise<Follower> {
  return db.transaction(async (tx) => {
    await requireFollower(tx, caller, id)
    await cancelFollower(tx, id)
    return requireFollower(tx, caller, id)
  })
}

/** Returns a follower of the caller. Errors: `not-found`, with the same words for another's, an unknown and an expired one. */
export async function requireFollower(db: Reader, caller: Caller, id: string): Promise<Follower> {
  const follower = await findFollower(db, id)
  if (follower && isOwnFollower(follower, caller)) return follower
  throw new Problem('not-found', { detail: 'There is no such follower, or it has expired.' })
}

import { Problem } from '../errors.ts'
import { findAgentById } from '../registry/agents/agent-store.ts'
import { removedIdentity } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { ClaimedTask } from '../registry/claims/task-assignment.ts'
import type { Transaction } from '../storage/database.ts'
import type { Claim } from './claim.ts'
import { silenceMs, stalenessOf } from './claim.ts'
import { claimEvent, conflict } from './claim-event.ts'
import { requireRoomToClaim } from './claim-room.ts'
import { findClaim, findImplicitClaim, moveClaim, removeClaim, renewClaim, takeClaim } from './claim-store.ts'
import type { ClaimContext, Claimed } from './context.ts'

/** The claim on a task. `isStored`: its assignee has claimed it; otherwise it is the owner by being the assignee. */
export interface TaskClaim extends Claim {
  readonly isStored: boolean
}

/**
 * Returns the claim on a task that is locked: its owner is the assignee. A change of state is a sign of life, unless it was made while
 * the clock was far ahead. Source: D18.
 */
export async function claimOn(tx: Transaction, task: ClaimedTask, projectId: string): Promise<TaskClaim> {
  const { id: ref, assigneeId: ownerId, createdAt: claimedAt, statusAt } = task
  const stored = await findClaim(tx, projectId, ref)
  const isStored = stored?.ownerId === ownerId
  const claim = isStored ? stored : await findImplicitClaim(tx, { projectId, ref, ownerId, claimedAt })
  const lastSeenAt = Math.max(claim.lastSeenAt, statusAt > tx.now + silenceMs ? 0 : statusAt)
  return { ...claim, lastSeenAt, isStored }
}

/** Claims a task for its assignee, or makes the caller the assignee when that one is silent. The task is locked. */
export async function claimTask(
  context: ClaimContext,
  tx: Transaction,
  caller: Caller,
  task: ClaimedTask,
): Promise<Claimed> {
  const { append, assignment, silenceUntil } = context
  const { projectId, identity: owner } = caller
  const before = await claimOn(tx, task, projectId)
  const { ref, isStored } = before
  const own = { projectId, ref, ownerId: caller.id, owner, lastSeenAt: tx.now }
  if (before.ownerId === caller.id) {
    if (isStored) {
      await renewClaim(tx, before)
      return { claim: { ...own, claimedAt: before.claimedAt }, outcome: 'renewed' }
    }
    await requireRoomToClaim(context, tx, caller)
    await takeClaim(tx, projectId, ref, caller.id)
    await append(tx, projectId, [claimEvent('claim.taken', caller, [caller.id], { ref, owner })])
    return { claim: { ...own, claimedAt: tx.now }, outcome: 'claimed' }
  }
  const reason = stalenessOf(before, silenceUntil(tx.now))
  if (reason === undefined) throw conflict(before)
  requireOpen(task)
  await requireRoomToClaim(context, tx, caller)
  await giveClaim(tx, before, caller.id)
  const previousOwner = before.owner ?? removedIdentity
  const data = { ref, owner, previousOwner, reason }
  const taken = claimEvent('claim.taken_over', caller, [before.ownerId, caller.id], data)
  await append(tx, projectId, [taken])
  await assignment.assign(tx, caller, ref, caller)
  return { claim: { ...own, claimedAt: tx.now }, outcome: 'taken_over', previousOwner, reason }
}

/**
 * Gives a task up. One that was handed over goes back to the agent that it was sent to, so that it always has an assignee.
 */
export async function returnTask(
  { assignment }: ClaimContext,
  tx: Transaction,
  caller: Caller,
  task: ClaimedTask,
): Promise<void> {
  if (task.isFinished || task.agentId === task.assigneeId) return
  if (await findAgentById(tx, task.agentId)) await assignment.assign(tx, caller, task.id, { id: task.agentId })
}

/** Makes an owner of a task whose claim may not be stored. */
export async function giveClaim(tx: Transaction, before: TaskClaim, nextId: string): Promise<void> {
  const { projectId, ref, isStored } = before
  const isGiven = isStored ? await moveClaim(tx, before, nextId) : await takeClaim(tx, projectId, ref, nextId)
  if (!isGiven) throw conflict((await findClaim(tx, projectId, ref)) ?? before)
}

/** Deletes the stored claim on a task. False: there is none. */
export async function dropClaim(tx: Transaction, claim: TaskClaim): Promise<boolean> {
  return claim.isStored && (await removeClaim(tx, claim))
}

/** Errors: `task-finished`. */
export function requireOpen({ id: taskId, isFinished }: ClaimedTask): void {
  if (!isFinished) return
  throw new Problem('task-finished', {
    field: 'ref',
    detail: `ref: task ${taskId} is finished: there is nothing left to take over.`,
    extra: { taskId },
  })
}

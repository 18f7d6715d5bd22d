import type { NewEvent } from '../log/event.ts'
import { operatorId } from '../registry/agents/identity.ts'
import { partyOf } from '../registry/agents/party.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { ClaimedTask, NextAssignee, TaskAssignment } from '../registry/claims/task-assignment.ts'
import type { Transaction } from '../storage/database.ts'
import { addFormerAssignee } from './former-assignee-store.ts'
import { rolesIn, taskNotFound } from './read-task.ts'
import { isTerminal } from './state.ts'
import type { Task } from './task.ts'
import { stateChanged } from './task-events.ts'
import { assignTaskRow, lockTask } from './task-store.ts'
import { staleTask } from './transition.ts'

const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Moves a task from assignee to assignee, for claims. Source: D18. */
export const taskAssignment: TaskAssignment = { find: findClaimed, assign }

async function findClaimed(tx: Transaction, caller: Caller, ref: string): Promise<ClaimedTask | undefined> {
  const task = idPattern.test(ref) ? await lockTask(tx, ref) : undefined
  if (!task) return undefined
  const isWithin = task.projectId === caller.projectId
  if (isWithin && (await rolesIn(tx, caller, task)).length > 0) return { ...task, isFinished: isTerminal(task.state) }
  throw taskNotFound(ref, 'ref')
}

async function assign(
  tx: Transaction,
  caller: Caller,
  taskId: string,
  next: NextAssignee,
  mail?: NewEvent,
): Promise<NewEvent> {
  const task = (await lockTask(tx, taskId))!
  if (!(await assignTaskRow(tx, task, next.id))) throw await staleTask(tx, task)
  if (task.assigneeId !== operatorId) await addFormerAssignee(tx, taskId, task.assigneeId)
  const assigned: Task = { ...task, assigneeId: next.id, version: task.version + 1, statusAt: tx.now }
  return stateChanged(assigned, {
    previousState: task.state,
    previousAssignee: await partyOf(tx, task.assigneeId),
    actor: caller.identity,
    actorId: caller.id,
    originator: await partyOf(tx, task.originatorId),
    assignee: await partyOf(tx, next.id),
    mail,
  })
}

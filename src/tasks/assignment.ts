import type { NewEvent } from '../log/event.ts'
import { operatorId } from '../registry/agents/identity.ts'
import { partyOf } from '../registry/agents/party.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { ClaimedTask, TaskAssignment } from '../registry/claims/task-assignment.ts'
import type { Transaction } from '../storage/database.ts'
import { isTerminal } from '../words/task-states.ts'
import type { TaskContext } from './context.ts'
import { addFormerAssignee } from './former-assignee-store.ts'
import { rolesIn, taskNotFound } from './read-task.ts'
import type { Task } from './task.ts'
import { projectsOf, stateChanged } from './task-events.ts'
import { assignTaskRow, lockTask } from './task-store.ts'
import { readParties, staleTask } from './transition.ts'

const idPattern = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Makes what moves a task from assignee to assignee, for claims. Source: D18. */
export function createTaskAssignment(context: Pick<TaskContext, 'append'>): TaskAssignment {
  return { find: findClaimed, assign: (tx, caller, taskId, next) => assign(context, tx, caller, { taskId, ...next }) }
}

interface Assigning {
  readonly taskId: string
  /** The id of the next assignee. */
  readonly id: string
  readonly mail?: NewEvent | undefined
}

async function findClaimed(tx: Transaction, caller: Caller, ref: string): Promise<ClaimedTask | undefined> {
  const task = idPattern.test(ref) ? await lockTask(tx, ref) : undefined
  if (!task) return undefined
  const isWithin = task.projectId === caller.projectId
  if (isWithin && (await rolesIn(tx, caller, task)).length > 0) return { ...task, isFinished: isTerminal(task.state) }
  throw taskNotFound(ref, 'ref')
}

async function assign(
  context: Pick<TaskContext, 'append'>,
  tx: Transaction,
  caller: Caller,
  { taskId, id: assigneeId, mail }: Assigning,
): Promise<void> {
  const task = (await lockTask(tx, taskId))!
  if (!(await assignTaskRow(tx, task, assigneeId))) throw await staleTask(tx, task)
  if (task.assigneeId !== operatorId) await addFormerAssignee(tx, taskId, task.assigneeId)
  const assigned: Task = { ...task, assigneeId, version: task.version + 1, statusAt: tx.now }
  const change = {
    previousState: task.state,
    previousAssignee: await partyOf(tx, task.assigneeId),
    actor: caller.identity,
    actorId: caller.id,
    mail,
    ...(await readParties(tx, assigned)),
  }
  for (const projectId of projectsOf(task, change)) {
    await context.append(tx, projectId, [stateChanged(assigned, change, projectId)])
  }
}

import { Problem } from '../errors.ts'
import type { Agent } from '../registry/agents/agent.ts'
import { acceptsMailFrom, contactRefused } from '../registry/agents/contact.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { isTerminal } from '../words/task-states.ts'
import { findAssignedBefore } from './former-assignee-store.ts'
import { type A2aMessage, rolesOf, type Task } from './task.ts'
import { findParties, lockTask } from './task-store.ts'

/** A message may refer only to tasks that its sender can see (specification §3.4.3). Errors: `task-not-found`. */
export async function requireReferences(tx: Reader, caller: Caller, message: A2aMessage): Promise<void> {
  const ids = [...new Set((message.referenceTaskIds as string[] | undefined) ?? [])]
  if (ids.length === 0) return
  const visible = new Set<string>()
  for (const task of await findParties(tx, ids)) if (rolesOf(caller, task).length > 0) visible.add(task.id)
  const others = ids.filter((candidate) => !visible.has(candidate))
  const before = others.length > 0 ? await findAssignedBefore(tx, caller.id, others) : visible
  const id = others.find((candidate) => !before.has(candidate))
  if (id === undefined) return
  throw new Problem('task-not-found', {
    field: 'message.referenceTaskIds',
    detail: `message.referenceTaskIds: Task not found: there is no task ${id}, or it is not yours. Leave the id out, or name a task that you started.`,
    extra: { taskId: id },
  })
}

/** An agent with a contact list takes new tasks from callers on it only. Errors: `forbidden`. Source: S1-26. */
export async function requireContact(tx: Reader, caller: Caller, agent: Agent): Promise<void> {
  if (agent.contactPolicy === 'listed' && !(await acceptsMailFrom(tx, caller, agent))) {
    throw contactRefused(caller, agent)
  }
}

/** The task that a message continues, locked. Errors: `task-not-found`, `invalid-request`, `task-finished`. */
export async function requireTaskToContinue(
  tx: Transaction,
  caller: Caller,
  agent: Agent,
  taskId: string,
  message: A2aMessage,
): Promise<Task> {
  return requireContinuable(await lockTask(tx, taskId), caller, agent, { ...message, taskId })
}

/** The same for a task that was read. */
function requireContinuable(
  task: Task | undefined,
  caller: Caller,
  agent: Agent,
  { taskId, contextId }: A2aMessage,
): Task {
  if (!task || task.agentId !== agent.id || !rolesOf(caller, task).includes('originator')) {
    throw new Problem('task-not-found', {
      field: 'message.taskId',
      detail: `message.taskId: Task not found: you have no task ${taskId} with ${agent.handle}. Leave taskId out to start a new task.`,
      extra: { taskId },
    })
  }
  if (typeof contextId === 'string' && contextId && contextId !== task.contextId) {
    throw new Problem('invalid-request', {
      field: 'message.contextId',
      detail: `message.contextId: task ${taskId} belongs to context ${task.contextId}. Send that contextId, or leave it out.`,
    })
  }
  if (isTerminal(task.state)) {
    throw new Problem('task-finished', {
      field: 'message.taskId',
      detail: `message.taskId: task ${taskId} is ${task.state} and accepts no more messages.`,
      remedy: 'begin-task',
      extra: { taskId: task.id, state: task.state, contextId: task.contextId },
    })
  }
  return task
}

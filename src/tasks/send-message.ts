import { Problem } from '../errors.ts'
import { newUuid } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { NewEvent } from '../log/event.ts'
import type { Agent } from '../registry/agents/agent.ts'
import { acceptsMailFrom, contactRefused } from '../registry/agents/contact.ts'
import { identityOf } from '../registry/agents/identity.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { findFirstResult, type Idempotency, keepResult } from '../registry/idempotency.ts'
import { bytesOf, rowBytes } from '../registry/shares/usage.ts'
import type { Transaction } from '../storage/database.ts'
import type { TaskContext } from './context.ts'
import { readDelivery, requireAcceptedModes, stampMessage, subjectOf } from './message-input.ts'
import { requireRoomForMessage, write } from './room.ts'
import { isInterrupted, isTerminal } from './state.ts'
import { type A2aMessage, rolesOf, type Task } from './task.ts'
import { stateChanged } from './task-events.ts'
import {
  countMessage,
  findParties,
  findTask,
  insertTask,
  insertTaskMessage,
  lockTask,
  moveTaskRow,
} from './task-store.ts'

export interface SendMessageInput {
  readonly message: A2aMessage
  readonly metadata?: JsonObject | undefined
  /** Makes a repeat return the task of the first request. */
  readonly idempotency?: Idempotency | undefined
  /** Refuses before anything is written: a writer that fails later costs those that share its transaction. */
  readonly room?: ((tx: Transaction, taskId: string | undefined) => Promise<void>) | undefined
  /** Joins the transaction once the task is known: how a push config is set up together with its task. */
  readonly within?: ((tx: Transaction, task: Task, created: boolean) => Promise<void>) | undefined
}

/**
 * Takes an A2A message for an agent: starts a task, or continues one. Resolves when task, message, mail and events are
 * durable. Errors: `task-not-found`, `task-finished`, `invalid-request`, `unsupported-media-type`, `idempotency-conflict`,
 * `forbidden`, `rate-limited`, `recipient-storm`, `limit-exceeded`, `quota-exceeded`. Source: A2A specification §3.1.1, §3.4; D9.
 */
export function sendMessage(
  context: TaskContext,
  caller: Caller,
  agent: Agent,
  input: SendMessageInput,
): Promise<Task> {
  requireAcceptedModes(agent, input.message)
  context.usage.requireRoom(caller)
  // A repeat is answered whatever its sender has sent since.
  if (!input.idempotency) context.sends.check(caller, agent)
  return context.db.transaction(async (tx) => {
    const repeat = await findRepeat(tx, caller, agent, input)
    if (repeat) return repeat
    await requireReferences(tx, caller, input.message)
    const taskId = typeof input.message.taskId === 'string' ? input.message.taskId : ''
    await input.room?.(tx, taskId || undefined)
    const task = taskId
      ? await continueTask(context, tx, caller, agent, taskId, input)
      : await startWelcome(context, tx, caller, agent, input)
    context.usage.add(tx, caller, rowBytes + bytesOf(input.message) + bytesOf(taskId ? undefined : input.metadata))
    if (input.idempotency) await keepResult(tx, caller.id, agent.id, input.idempotency, task.id)
    return task
  })
}

async function findRepeat(
  tx: Transaction,
  caller: Caller,
  agent: Agent,
  input: SendMessageInput,
): Promise<Task | undefined> {
  const taskId = input.idempotency && (await findFirstResult(tx, caller.id, agent.id, input.idempotency))
  return taskId === undefined ? undefined : findTask(tx, taskId)
}

/** A message may point only at tasks that its sender can see (specification §3.4.3). */
async function requireReferences(tx: Transaction, caller: Caller, message: A2aMessage): Promise<void> {
  const ids = [...new Set((message.referenceTaskIds as string[] | undefined) ?? [])]
  if (ids.length === 0) return
  const visible = new Set<string>()
  for (const task of await findParties(tx, ids)) if (rolesOf(caller, task).length > 0) visible.add(task.id)
  const id = ids.find((candidate) => !visible.has(candidate))
  if (id === undefined) return
  throw new Problem('task-not-found', {
    field: 'message.referenceTaskIds',
    detail: `message.referenceTaskIds: no task ${id}, or it is not yours. Leave it out, or name a task that you started.`,
    extra: { taskId: id },
  })
}

/** An agent with a list takes new work of those on it; what it is working on goes on. Errors: `forbidden`. Source: S1-26. */
async function startWelcome(
  context: TaskContext,
  tx: Transaction,
  caller: Caller,
  agent: Agent,
  input: SendMessageInput,
): Promise<Task> {
  if (agent.contactPolicy === 'listed' && !(await acceptsMailFrom(tx, caller, agent)))
    throw contactRefused(caller, agent)
  context.sends.take(caller, agent)
  return startTask(context, tx, caller, agent, input)
}

async function startTask(
  context: TaskContext,
  tx: Transaction,
  caller: Caller,
  agent: Agent,
  input: SendMessageInput,
): Promise<Task> {
  const delivery = readDelivery(agent, input.metadata, input.message.metadata)
  const { contextId } = input.message
  const task: Task = {
    id: newUuid(),
    projectId: agent.projectId,
    contextId: typeof contextId === 'string' && contextId ? contextId : newUuid(),
    assigneeId: agent.id,
    originatorId: caller.id,
    state: 'submitted',
    version: 1,
    statusMessageSeq: null,
    statusAt: tx.now,
    reason: null,
    priority: delivery.priority,
    taggedConcepts: delivery.taggedConcepts,
    metadata: input.metadata ?? null,
    messageCount: 1,
    chunkCount: 0,
    size: 0,
    expiresAt: delivery.expiresAt,
    createdAt: tx.now,
    updatedAt: tx.now,
  }
  const message = stampMessage(input.message, task)
  const written = write(message, 'message')
  await insertTask(tx, task, written)
  await insertTaskMessage(tx, { ...task, messageCount: 0 }, written)
  const mail = await context.recordMail(tx, {
    sender: caller,
    recipientId: agent.id,
    projectId: agent.projectId,
    subject: subjectOf(message),
    taskId: task.id,
    taskSeq: 1,
    ...delivery,
  })
  await input.within?.(tx, task, true)
  await context.append(tx, task.projectId, [
    mail.event,
    stateChanged({
      task,
      previousState: null,
      newState: 'submitted',
      version: 1,
      statusMessageSeq: null,
      actor: caller.identity,
      originator: caller.identity,
      assignee: agent.handle,
      now: tx.now,
      mail: mail.event,
    }),
  ])
  return task
}

/** A reply puts a waiting task back to `submitted`; any other message joins the history and wakes the assignee. */
async function continueTask(
  context: TaskContext,
  tx: Transaction,
  caller: Caller,
  agent: Agent,
  taskId: string,
  input: SendMessageInput,
): Promise<Task> {
  const task = await requireOwnTask(tx, caller, agent, taskId, input.message)
  context.sends.take(caller, agent)
  const delivery = readDelivery(agent, input.metadata, input.message.metadata)
  const message = stampMessage(input.message, task)
  const written = write(message, 'message')
  requireRoomForMessage(task, written)
  const seq = await insertTaskMessage(tx, task, written)
  const mail = await context.recordMail(tx, {
    sender: caller,
    recipientId: agent.id,
    projectId: agent.projectId,
    subject: subjectOf(message),
    taskId,
    taskSeq: seq,
    ...delivery,
  })
  const events: NewEvent[] = [mail.event]
  if (isInterrupted(task.state)) {
    const to = {
      state: 'submitted',
      expectedVersion: task.version,
      statusMessageSeq: null,
      messageCount: seq,
      size: written.size,
      reason: null,
      // It was taken once, so the old deadline is over; a reply may set a new one.
      expiresAt: delivery.expiresAt,
    } as const
    await moveTaskRow(tx, task, to)
    events.push(
      stateChanged({
        task,
        previousState: task.state,
        newState: 'submitted',
        version: task.version + 1,
        statusMessageSeq: null,
        actor: caller.identity,
        originator: await identityOf(tx, task.originatorId),
        assignee: agent.handle,
        now: tx.now,
        mail: mail.event,
      }),
    )
  } else {
    await countMessage(tx, task, written)
  }
  await input.within?.(tx, task, false)
  await context.append(tx, task.projectId, events)
  return (await findTask(tx, taskId)) as Task
}

async function requireOwnTask(
  tx: Transaction,
  caller: Caller,
  agent: Agent,
  taskId: string,
  message: A2aMessage,
): Promise<Task> {
  const task = await lockTask(tx, taskId)
  if (!task || task.assigneeId !== agent.id || !rolesOf(caller, task).includes('originator')) {
    throw new Problem('task-not-found', {
      field: 'message.taskId',
      detail: `message.taskId: no task ${taskId} of yours with ${agent.handle}. Leave taskId out to start a new task.`,
      extra: { taskId },
    })
  }
  const { contextId } = message
  if (typeof contextId === 'string' && contextId && contextId !== task.contextId) {
    throw new Problem('invalid-request', {
      field: 'message.contextId',
      detail: `message.contextId: task ${taskId} belongs to context ${task.contextId}. Send that contextId, or none.`,
    })
  }
  if (isTerminal(task.state)) {
    throw new Problem('task-finished', {
      field: 'message.taskId',
      detail: `message.taskId: task ${taskId} is ${task.state} and takes no more messages. Send a new message with contextId ${task.contextId} and referenceTaskIds [${taskId}].`,
      extra: { taskId, state: task.state },
    })
  }
  return task
}

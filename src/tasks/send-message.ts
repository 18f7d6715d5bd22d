import { bytesOf, rowBytes } from '../admission/usage.ts'
import { contextOf, newTaskId } from '../lib/ids.ts'
import type { JsonObject } from '../lib/json.ts'
import type { Agent } from '../registry/agents/agent.ts'
import { findAgentById } from '../registry/agents/agent-store.ts'
import { operatorId } from '../registry/agents/identity.ts'
import { type Caller, partyFrom } from '../registry/callers/caller.ts'
import { findFirstResult, type Idempotency, keepResult, keyOwner } from '../registry/idempotency.ts'
import type { Receivers, TakeSend } from '../registry/mail/send-limits.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { operatorIdentity } from '../words/callers.ts'
import type { TaskContext } from './context.ts'
import { encode } from './encoded.ts'
import { readSendOptions, requireAcceptedModes, type SendOptions, stampMessage, subjectOf } from './message-input.ts'
import { requireContact, requireReferences, requireTaskToContinue } from './send-guards.ts'
import { isInterrupted } from './state.ts'
import type { A2aMessage, Task } from './task.ts'
import { requireRoomForMessage } from './task-capacity.ts'
import { findTask } from './task-store.ts'
import { addMessage, transition } from './transition.ts'

export interface SendMessageInput {
  readonly message: A2aMessage
  readonly metadata?: JsonObject | undefined
  /** A repeat with this key returns the task of the first request. */
  readonly idempotency?: Idempotency | undefined
  /** Refuses before anything is written: a writer that fails later costs those that share its transaction. */
  readonly room?: ((tx: Transaction, taskId: string | undefined) => Promise<void>) | undefined
  /** Joins the transaction once the task is known. A push config is stored together with its task this way. */
  readonly within?: ((tx: Transaction, task: Task) => Promise<void>) | undefined
}

/** A task as its message left it. */
export interface SentMessage {
  readonly task: Task
  /** The message with the ids of its task, where it started the task: nothing else is in its history. */
  readonly startedBy?: A2aMessage
  /** The message was stored before. */
  readonly isRepeat?: true
}

/**
 * Takes an A2A message for an agent: starts a task, or continues one. Resolves when task, message, mail and events are
 * durable. Errors: `task-not-found`, `task-finished`, `invalid-request`, `unsupported-media-type`, `idempotency-conflict`,
 * `forbidden`, `rate-limited`, `storm-breaker`, `recipient-storm`, `limit-exceeded`, `quota-exceeded`. Source: A2A specification §3.1.1, §3.4; D9.
 */
export function sendMessage(
  context: TaskContext,
  caller: Caller,
  agent: Agent,
  input: SendMessageInput,
): Promise<SentMessage> {
  const { message, idempotency } = input
  requireAcceptedModes(agent, message)
  context.usage.requireRoom(caller)
  const send = () =>
    context.sends.run(caller, async (take) => {
      // A repeat is answered whatever its sender has sent since.
      if (!idempotency) context.sends.check(caller, receiversOf(agent))
      return storeMessage(context, caller, agent, input, take)
    })
  return idempotency ? context.repeats.run(keyOwner(caller), agent.id, idempotency, send) : send()
}

function storeMessage(
  context: TaskContext,
  caller: Caller,
  agent: Agent,
  input: SendMessageInput,
  take: TakeSend,
): Promise<SentMessage> {
  const { message, metadata } = input
  return context.db.transaction(async (tx) => {
    const repeat = await findRepeat(tx, caller, agent, input)
    if (repeat) return { task: repeat, isRepeat: true }
    await requireReferences(tx, caller, message)
    const taskId = taskIdOf(message)
    await input.room?.(tx, taskId)
    const { task, stamped, bytes } = await receive(tx, context, { caller, agent, take, ...input })
    context.usage.add(tx, caller, rowBytes + bytes + bytesOf(taskId ? undefined : metadata))
    return taskId === undefined ? { task, startedBy: stamped } : { task }
  })
}

async function findRepeat(
  tx: Reader,
  caller: Caller,
  agent: Agent,
  input: SendMessageInput,
): Promise<Task | undefined> {
  const taskId = input.idempotency && (await findFirstResult(tx, keyOwner(caller), agent.id, input.idempotency))
  return taskId === undefined ? undefined : findTask(tx, taskId)
}

type Recipient = Pick<Agent, 'id' | 'handle' | 'defaultWakePolicy'>

interface SendInput extends SendMessageInput {
  readonly caller: Caller
  readonly agent: Agent
  readonly take: TakeSend
}

/**
 * Stores the message with its task and its mail. A message to a new task, or to one that waits for its originator, makes the
 * task `submitted`; any other one joins the history. Returns the task, the message with its ids, and its bytes.
 */
async function receive(
  tx: Transaction,
  context: TaskContext,
  sending: SendInput,
): Promise<{ readonly task: Task; readonly stamped: A2aMessage; readonly bytes: number }> {
  const { caller, agent } = sending
  const taskId = taskIdOf(sending.message)
  const existing =
    taskId === undefined ? undefined : await requireTaskToContinue(tx, caller, agent, taskId, sending.message)
  if (!existing) await requireContact(tx, caller, agent)
  const recipient = await recipientOf(tx, agent, existing)
  await sending.take(tx, receiversOf(recipient))
  const options = readSendOptions(sending.metadata, sending.message.metadata)
  const task = existing ?? newTask(sending, options, tx.now)
  const stamped = stampMessage(sending.message, task)
  const message = encode(stamped, 'message')
  const { bytes } = message
  requireRoomForMessage(task, message)
  // The first write: if another gateway has just used the key, only this request runs again.
  if (sending.idempotency) await keepResult(tx, keyOwner(caller), agent.id, sending.idempotency, task.id)
  const { event: mail } = await context.recordMail(tx, {
    sender: caller,
    recipientId: recipient.id,
    projectId: agent.projectId,
    subject: subjectOf(stamped),
    taskId: task.id,
    taskSeq: task.messageCount + 1,
    ...options,
    wakePolicy: options.wakePolicy ?? recipient.defaultWakePolicy,
  })
  await sending.within?.(tx, task)
  if (existing && !isInterrupted(existing.state)) {
    return { task: await addMessage(tx, context, task, { message, mail }), stamped, bytes }
  }
  const moved = await transition(tx, context, task, {
    to: 'submitted',
    actor: caller.identity,
    actorId: caller.id,
    message,
    mail,
    // The reply to a question may set a new deadline; the old one ended when the task was taken.
    expiresAt: options.expiresAt,
    wakePolicy: options.wakePolicy,
    parties: [
      partyFrom(caller),
      {
        id: recipient.id,
        projectId: recipient.id === operatorId ? null : agent.projectId,
        identity: recipient.handle,
        wakePolicy: recipient.defaultWakePolicy,
      },
    ],
  })
  return { task: moved, stamped, bytes }
}

const receiversOf = ({ id, handle }: Pick<Agent, 'id' | 'handle'>): Receivers => ({ peer: { id, identity: handle } })

/** The recipient of a message: the assignee. While the one that a task was handed over to is removed, the agent that it was sent to. Source: D18. */
async function recipientOf(tx: Transaction, agent: Agent, task: Task | undefined): Promise<Recipient> {
  if (!task || task.assigneeId === agent.id) return agent
  if (task.assigneeId === operatorId)
    return { id: operatorId, handle: operatorIdentity, defaultWakePolicy: 'immediate' }
  return (await findAgentById(tx, task.assigneeId)) ?? agent
}

function taskIdOf({ taskId }: A2aMessage): string | undefined {
  return typeof taskId === 'string' && taskId ? taskId : undefined
}

/** The task that a message starts. Its first move stores it. */
function newTask({ message, metadata, caller, agent }: SendInput, options: SendOptions, now: number): Task {
  const { contextId } = message
  const id = newTaskId(now)
  return {
    id,
    projectId: agent.projectId,
    contextId: typeof contextId === 'string' && contextId ? contextId : contextOf(id),
    agentId: agent.id,
    assigneeId: agent.id,
    originatorId: caller.id,
    state: 'submitted',
    version: 0,
    statusMessageSeq: null,
    statusAt: now,
    reason: null,
    priority: options.priority,
    taggedConcepts: options.taggedConcepts,
    metadata: metadata ?? null,
    messageCount: 0,
    chunkCount: 0,
    size: bytesOf(metadata ?? undefined),
    expiresAt: options.expiresAt,
    createdAt: now,
    updatedAt: now,
  }
}

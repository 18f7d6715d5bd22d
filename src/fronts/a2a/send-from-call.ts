import { type Task as A2aTask, Message, SendMessageRequest } from '@a2a-js/sdk'
import type { JsonObject } from '../../lib/json.ts'
import type { LogEvent } from '../../log/event.ts'
import { idempotencyOf } from '../../registry/idempotency.ts'
import type { Reader } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'
import { requireBoundedParts } from '../../tasks/bounded-parts.ts'
import { waitForTask } from '../../tasks/follow-task.ts'
import { contentOfStarted } from '../../tasks/read-task.ts'
import { type SendMessageInput, type SentMessage, sendMessage } from '../../tasks/send-message.ts'
import { isSettled } from '../../tasks/state.ts'
import type { A2aMessage, Task } from '../../tasks/task.ts'
import { readTaskMessage } from '../../tasks/task-message-store.ts'
import { recordCall } from '../access/a2a-access.ts'
import { a2aOperation } from '../access/a2a-operations.ts'
import { authorise } from '../access/authorise.ts'
import type { FrontContext } from '../front-context.ts'
import { inSpan, marked } from '../traced.ts'
import type { A2aCall } from './call.ts'
import { historyLimit, requireMessage, typed } from './params.ts'
import { keepingConfig } from './push-operations.ts'
import { loadA2aTask, toA2aTask } from './task-view.ts'

const newestChange = statement<{ taskId: string; projectId: string }, { data: string }>(sql`select data from event
  where task_id = ${p('taskId')} and project_id = ${p('projectId')} and type = 'task.state_changed' order by log_id desc limit 1`)

/** Sends the message of a call. Returns its task, or the message that answers it, once a call that waits has waited. */
export async function answerSend(
  context: FrontContext,
  params: SendMessageRequest,
  call: A2aCall,
  requestedVersion: string,
): Promise<A2aTask | Message> {
  const historyLength = historyLimit(params.configuration?.historyLength)
  const waits = isBlocking(params, requestedVersion)
  // First of all, so that a call that may not wait is refused before anything is sent.
  using _openCall = waits ? call.open('blockingCalls') : undefined
  const { startedBy, ...sent } = await sendFromCall(context, params, call, requestedVersion)
  let { task } = sent
  const options = { historyLength, sizeMax: call.sizeMax }
  if (!waits) {
    // The stored task would be the same. To read it would mean to wait for the commit of later writers.
    const content = startedBy && contentOfStarted(task, startedBy, historyLength)
    return content ? toA2aTask(content) : loadA2aTask(context.db, task, options)
  }
  const answer = async () => {
    const message = await readMessageAnswer(context.db, task)
    return message ? Message.fromJSON(message) : loadA2aTask(context.db, task, options)
  }
  if (isSettled(task.state)) return answer()
  task = await waitForTask(context, task.id, {
    isDone: isSettled,
    timeoutMs: context.blockingTimeoutMs,
    signal: call.signal,
  })
  return await call.buildInTurn(answer)
}

/** Sends the message of a call, and records it in the audit. */
export async function sendFromCall(
  context: FrontContext,
  request: SendMessageRequest,
  call: A2aCall,
  requestedVersion: string,
): Promise<SentMessage> {
  const params = requestedVersion === '0.3' ? typed(SendMessageRequest, request) : request
  const checked = requireMessage(params)
  requireBoundedParts(checked.parts)
  const message = Message.toJSON(checked) as A2aMessage
  const { configuration, metadata } = params
  const push = configuration?.taskPushNotificationConfig
  const { idempotencyKey: key, caller } = call
  if (push) authorise(a2aOperation('CreateTaskPushNotificationConfig'), caller)
  const input: SendMessageInput = {
    message,
    metadata: metadata as JsonObject | undefined,
    // The whole request, the same over all transports.
    idempotency: key === undefined ? undefined : idempotencyOf(caller, key, message, configuration, metadata),
    ...(push && keepingConfig(context, call, push, requestedVersion)),
  }
  const startedAt = performance.now()
  const about = { name: 'SendMessage', parent: call.traceparent, attributes: { 'rouse.front': call.front } }
  const sent = await inSpan(context.tracing, about, async (traceparent, span) => {
    const { task, ...rest } = await sendMessage(
      marked(context, { traceparent, person: caller.name }),
      caller,
      call.agent,
      input,
    )
    span?.note({ 'a2a.task.id': task.id, 'gen_ai.conversation.id': task.contextId })
    return { task, ...rest }
  })
  context.metrics.accepted('a2a', performance.now() - startedAt)
  await recordCall(context, call, 'ok', sent.task.id)
  return sent
}

/** A v1.0 call waits unless it asks for an immediate answer. A v0.3 call waits only if it asks for that. Source: D32. */
function isBlocking({ configuration }: SendMessageRequest, requestedVersion: string): boolean {
  return configuration ? !configuration.returnImmediately : requestedVersion !== '0.3'
}

/**
 * The status message of a completed task, if its assignee wants it to be the whole answer to a call that waits. Undefined: the
 * task is the answer. Source: D33.
 */
async function readMessageAnswer(db: Reader, task: Task): Promise<A2aMessage | undefined> {
  if (task.state !== 'completed' || task.statusMessageSeq === null) return undefined
  const row = await db.get(newestChange, { taskId: task.id, projectId: task.projectId })
  const data = row && (JSON.parse(row.data) as LogEvent['data'])
  if (data?.answerAs !== 'message') return undefined
  return (await readTaskMessage(db, task.id, task.statusMessageSeq)) ?? undefined
}

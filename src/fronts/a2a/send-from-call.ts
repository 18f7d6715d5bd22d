import { createHash } from 'node:crypto'
import { type Task as A2aTask, Message, SendMessageRequest } from '@a2a-js/sdk'
import { companyLimits } from '../../gateway-limits.ts'
import type { JsonObject } from '../../lib/json.ts'
import { jsonTexts } from '../../lib/json-in-chunks.ts'
import { beginSlice, sliceBytes } from '../../lib/pauses.ts'
import { requireBoundedParts, requireBoundedPartsOfMany } from '../../tasks/bounded-parts.ts'
import { type BeginReading, readingBy } from '../../tasks/content-within.ts'
import { waitForTask } from '../../tasks/follow-task.ts'
import { isLarge } from '../../tasks/large-message.ts'
import { readMessageAnswer } from '../../tasks/message-answer.ts'
import type { PushContext } from '../../tasks/push-config.ts'
import { contentOfStarted } from '../../tasks/read-task.ts'
import { type SendMessageInput, type SentMessage, sendMessage } from '../../tasks/send-message.ts'
import { isInterrupted } from '../../tasks/state.ts'
import type { A2aMessage } from '../../tasks/task.ts'
import { isTerminal, type TaskState } from '../../words/task-states.ts'
import { recordCall } from '../access/a2a-access.ts'
import { a2aOperation } from '../access/a2a-operations.ts'
import { authorise } from '../access/authorise.ts'
import type { AuditContext } from '../access/rest-access.ts'
import type { A2aCall } from './call.ts'
import { historyLimit, requireMessage, typed } from './params.ts'
import { keepingConfig } from './push-operations.ts'
import { loadA2aTask, toA2aTask } from './task-view.ts'

export interface SendContext extends PushContext, AuditContext {
  /** How long a blocking SendMessage waits, in ms. */
  readonly blockingTimeoutMs: number
}

const isSettled = (state: TaskState): boolean => isTerminal(state) || isInterrupted(state)

/** Sends the message of a call. Returns its task, or the message that answers it, once a call that waits has waited. */
export async function answerSend(
  context: SendContext,
  params: SendMessageRequest,
  call: A2aCall,
  requestedVersion: string,
): Promise<A2aTask | Message> {
  const historyLength = historyLimit(params.configuration?.historyLength)
  const waits = isBlocking(params, requestedVersion)
  // First of all, so that a call that may not wait is refused before anything is sent.
  // A large message takes a second, in which its key may be revoked.
  using _openCall = waits || isLarge(params.message) ? call.open('blockingCalls') : undefined
  const { startedBy, ...sent } = await sendFromCall(context, params, call, requestedVersion)
  let { task } = sent
  const { sizeMax } = call
  const options = { historyLength, sizeMax, beginReading: waitingOnce(call.beginReading), isCertain: true }
  if (!waits) {
    // The stored task would be the same. To read it would mean to wait for the commit of later writers.
    const content = startedBy && contentOfStarted(task, startedBy, historyLength)
    if (!content) return await loadA2aTask(context.db, task, options)
    if (task.size <= sliceBytes) return toA2aTask(content)
    await beginSlice(call.caller.id)
    const answer = toA2aTask(content)
    // The transport encodes it.
    await beginSlice(call.caller.id)
    return answer
  }
  if (!isSettled(task.state)) {
    task = await waitForTask(context, task.id, {
      isDone: isSettled,
      timeoutMs: context.blockingTimeoutMs,
      signal: call.signal,
    })
    call.requireNotRevoked()
  }
  const answer = await readMessageAnswer(context.db, task, options)
  if (answer) return Message.fromJSON(answer)
  // Hundreds of calls may have waited for the same task, and all of them are answered now.
  return loadA2aTask(context.db, task, { ...options, countedFrom: companyLimits.largeBytes.max })
}

/** The same, but once it has refused it refuses at once: an answer that is given in any case waits for its content once. */
function waitingOnce(beginReading: BeginReading): BeginReading {
  let refusal: Promise<void> | undefined
  return readingBy(beginReading.by ?? '', (bytes) => {
    if (refusal) return refusal
    const begun = beginReading(bytes)
    return begun.catch((error: unknown) => {
      refusal = begun
      throw error
    })
  })
}

/** Sends the message of a call, and records it in the audit. */
export async function sendFromCall(
  context: SendContext,
  request: SendMessageRequest,
  call: A2aCall,
  requestedVersion: string,
): Promise<SentMessage> {
  const isLargeOne = isLarge(request.message)
  // The transport has decoded it.
  if (isLargeOne) await beginSlice(call.caller.id)
  const params = requestedVersion === '0.3' ? typed(SendMessageRequest, request) : request
  const checked = requireMessage(params)
  if (isLargeOne) await requireBoundedPartsOfMany(checked.parts, call.caller.id)
  else requireBoundedParts(checked.parts)
  const message = Message.toJSON(checked) as A2aMessage
  const push = params.configuration?.taskPushNotificationConfig
  const { idempotencyKey: key, caller } = call
  if (push) authorise(a2aOperation('CreateTaskPushNotificationConfig'), caller)
  const fingerprint = isLargeOne ? () => largeFingerprint(params, message, caller.id) : () => fingerprintOf(params)
  const input: SendMessageInput = {
    message,
    metadata: params.metadata as JsonObject | undefined,
    isLarge: isLargeOne,
    requireAllowed: () => call.requireNotRevoked(),
    idempotency: key === undefined ? undefined : { key, fingerprint: await fingerprint() },
    ...(push && keepingConfig(context, call, push, requestedVersion)),
  }
  const sent = await sendMessage(context, caller, call.agent, input)
  await recordCall(context, call, 'ok', sent.task.id)
  return sent
}

/** A v1.0 call waits unless it asks for an immediate answer. A v0.3 call waits only if it asks for that. Source: D32. */
function isBlocking({ configuration }: SendMessageRequest, requestedVersion: string): boolean {
  return configuration ? !configuration.returnImmediately : requestedVersion !== '0.3'
}

/** Identifies a repeat: the whole request, the same over all transports. */
function fingerprintOf(params: SendMessageRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([params.message, params.configuration, params.metadata]))
    .digest('hex')
}

/** The same for a large message, over several iterations of the event loop. Bytes are in base64: a number for each would take seconds. */
async function largeFingerprint(params: SendMessageRequest, { parts }: A2aMessage, by: string): Promise<string> {
  const inBase64 = params.message?.parts.map((part, index) =>
    part.content?.$case === 'raw' ? { ...part, content: { $case: 'raw', value: parts[index]?.raw } } : part,
  )
  const hash = createHash('sha256')
  const message = { ...params.message, parts: inBase64 }
  for await (const text of jsonTexts([message, params.configuration, params.metadata], by)) hash.update(text)
  return hash.digest('hex')
}

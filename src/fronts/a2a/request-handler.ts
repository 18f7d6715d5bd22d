import { createHash } from 'node:crypto'
import {
  type Task as A2aTask,
  type AgentCard,
  type CancelTaskRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type GetExtendedAgentCardRequest,
  type GetTaskPushNotificationConfigRequest,
  type GetTaskRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksRequest,
  type ListTasksResponse,
  Message,
  SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server'
import type { CardDocuments } from '../../agent-card/documents.ts'
import { Problem } from '../../errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { Logger } from '../../logger.ts'
import { waitForTask } from '../../tasks/follow-task.ts'
import { listTasks, nextPageToken } from '../../tasks/list-tasks.ts'
import { readMessageAnswer } from '../../tasks/message-answer.ts'
import { readWakePolicy } from '../../tasks/message-input.ts'
import { cancelTask } from '../../tasks/move-task.ts'
import type { PushContext } from '../../tasks/push-config.ts'
import { loadTaskContents } from '../../tasks/read-task.ts'
import { type SendMessageInput, sendMessage } from '../../tasks/send-message.ts'
import { isInterrupted, isTerminal, type TaskState } from '../../tasks/state.ts'
import type { A2aMessage, Task } from '../../tasks/task.ts'
import { recordCall } from '../access/a2a-access.ts'
import { type A2aOperationName, a2aOperation } from '../access/a2a-operations.ts'
import { authorise } from '../access/authorise.ts'
import type { AuditContext } from '../access/rest-access.ts'
import type { A2aCall } from './call.ts'
import { requireCalledTask } from './called-task.ts'
import { cardAgent } from './card-agent.ts'
import { toA2aError } from './errors.ts'
import { historyLimit, listQuery, requireMessage, typed } from './params.ts'
import { createConfig, deleteConfig, getConfig, keepingConfig, listConfigs } from './push-operations.ts'
import { type OperationTools, runOperation, streamOperation } from './run-operation.ts'
import { sharedCard } from './shared-card.ts'
import { positionSeen, streamFromNow, streamSince } from './task-stream.ts'
import { loadA2aTask, toA2aTask } from './task-view.ts'

export interface A2aContext extends PushContext, AuditContext {
  readonly log: Logger
  readonly cards: CardDocuments
  /** How long a blocking SendMessage waits, in ms. */
  readonly blockingTimeoutMs: number
}

const isSettled = (state: TaskState): boolean => isTerminal(state) || isInterrupted(state)
/** A message's stream ends when its sender has to act. After `auth-required` the task continues without the sender. */
const endsMessageStream = (state: TaskState): boolean => isTerminal(state) || state === 'input-required'

/** The SDK's request handler on the durable store: any gateway can serve any call, and answers only what is stored. */
export class DurableRequestHandler implements A2ARequestHandler {
  readonly #context: A2aContext
  readonly #tools: OperationTools

  /** @param toError for a binding that has other errors than the specification's */
  constructor(context: A2aContext, toError: typeof toA2aError = toA2aError) {
    this.#context = context
    this.#tools = { audit: context.audit, log: context.log, toError }
  }

  /** The SDK reads only versions and capabilities from this card, and all agents share those. `serveCard` serves the cards. */
  async getAgentCard(): Promise<AgentCard> {
    return sharedCard
  }

  getAuthenticatedExtendedAgentCard(
    _params: GetExtendedAgentCardRequest,
    context: ServerCallContext,
  ): Promise<AgentCard> {
    return this.#run('GetExtendedAgentCard', context, '', ({ agent, caller }) =>
      this.#context.cards.extendedCard(cardAgent(agent), caller),
    )
  }

  sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<A2aTask | Message> {
    return this.#run('SendMessage', context, '', async (call) => {
      const historyLength = historyLimit(params.configuration?.historyLength)
      const waits = isBlocking(params, context.requestedVersion)
      // First of all, so that a call that may not wait is refused before anything is sent.
      using _held = waits ? call.hold('blockingCalls') : undefined
      let task = await this.#send(params, call, context.requestedVersion)
      if (!waits) return loadA2aTask(this.#context.db, task, historyLength)
      if (!isSettled(task.state)) {
        task = await waitForTask(this.#context, task.id, {
          isDone: isSettled,
          timeoutMs: this.#context.blockingTimeoutMs,
          signal: call.signal,
        })
        call.requireHeld()
      }
      const answer = await readMessageAnswer(this.#context.db, task)
      return answer ? Message.fromJSON(answer) : loadA2aTask(this.#context.db, task, historyLength)
    })
  }

  sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#stream('SendStreamingMessage', context, '', async function* (this: DurableRequestHandler, call) {
      const historyLength = historyLimit(params.configuration?.historyLength)
      const { id } = await this.#send(params, call, context.requestedVersion)
      yield* streamFromNow(this.#context, call, id, { isLast: endsMessageStream, historyLength })
    })
  }

  resubscribe(
    params: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#stream('SubscribeToTask', context, params.id, async function* (this: DurableRequestHandler, call) {
      const task = await requireCalledTask(this.#context.db, call, params.id)
      const position = await positionSeen(this.#context, call, task.id)
      if (position !== undefined) return yield* streamSince(this.#context, call, task, position)
      if (isTerminal(task.state)) {
        throw new Problem('task-finished', {
          detail: `Task ${task.id} is ${task.state}: there is nothing to subscribe to. Read it with GetTask.`,
          extra: { taskId: task.id },
        })
      }
      yield* streamFromNow(this.#context, call, task.id, { isLast: isTerminal })
    })
  }

  getTask(params: GetTaskRequest, context: ServerCallContext): Promise<A2aTask> {
    return this.#run('GetTask', context, params.id, async (call) => {
      const historyLength = historyLimit(params.historyLength)
      const task = await requireCalledTask(this.#context.db, call, params.id)
      return loadA2aTask(this.#context.db, task, historyLength)
    })
  }

  listTasks(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    return this.#run('ListTasks', context, '', async ({ caller, agent }) => {
      const query = listQuery(params)
      const seesAll = caller.kind === 'operator' || caller.id === agent.id
      const page = await listTasks(this.#context.db, {
        ...query,
        projectId: agent.projectId,
        agentId: agent.id,
        originatorId: seesAll ? undefined : caller.id,
      })
      const historyLength = historyLimit(params.historyLength)
      const artifacts = params.includeArtifacts ?? false
      const contents = await loadTaskContents(this.#context.db, page.tasks, { historyLength, artifacts })
      return {
        tasks: contents.map(toA2aTask),
        nextPageToken: nextPageToken(page, contents),
        pageSize: query.pageSize,
        totalSize: page.totalSize,
      }
    })
  }

  cancelTask(params: CancelTaskRequest, context: ServerCallContext): Promise<A2aTask> {
    return this.#run('CancelTask', context, params.id, async (call) => {
      await requireCalledTask(this.#context.db, call, params.id)
      return loadA2aTask(
        this.#context.db,
        await cancelTask(this.#context, call.caller, params.id, readWakePolicy(params.metadata)),
      )
    })
  }

  createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    return this.#run('CreateTaskPushNotificationConfig', context, params.taskId, async (call) =>
      createConfig(this.#context, call, params, context.requestedVersion),
    )
  }

  getTaskPushNotificationConfig(
    params: GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    return this.#run('GetTaskPushNotificationConfig', context, params.taskId, async (call) =>
      getConfig(this.#context, call, params, context.requestedVersion),
    )
  }

  listTaskPushNotificationConfigs(
    params: ListTaskPushNotificationConfigsRequest,
    context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#run('ListTaskPushNotificationConfigs', context, params.taskId, async (call) =>
      listConfigs(this.#context, call, params),
    )
  }

  deleteTaskPushNotificationConfig(
    params: DeleteTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<void> {
    return this.#run('DeleteTaskPushNotificationConfig', context, params.taskId, async (call) =>
      deleteConfig(this.#context, call, params),
    )
  }

  async #send(request: SendMessageRequest, call: A2aCall, requestedVersion: string): Promise<Task> {
    const params = requestedVersion === '0.3' ? typed(SendMessageRequest, request) : request
    const message = Message.toJSON(requireMessage(params)) as A2aMessage
    const push = params.configuration?.taskPushNotificationConfig
    const { idempotencyKey: key, caller } = call
    if (push) authorise(a2aOperation('CreateTaskPushNotificationConfig'), caller)
    const input: SendMessageInput = {
      message,
      metadata: params.metadata as JsonObject | undefined,
      idempotency: key === undefined ? undefined : { key, fingerprint: fingerprint(params) },
      ...(push && keepingConfig(this.#context, call, push, requestedVersion)),
    }
    const task = await sendMessage(this.#context, caller, call.agent, input)
    await recordCall(this.#context, call, 'ok', task.id)
    return task
  }

  #run<T>(
    name: A2aOperationName,
    context: ServerCallContext,
    target: string,
    act: (call: A2aCall) => Promise<T>,
  ): Promise<T> {
    return runOperation(this.#tools, { name, context, target }, act)
  }

  #stream(
    name: A2aOperationName,
    context: ServerCallContext,
    target: string,
    act: (this: DurableRequestHandler, call: A2aCall) => AsyncGenerator<StreamResponse, void, undefined>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    return streamOperation(this.#tools, { name, context, target }, (call) => act.call(this, call))
  }
}

/** v1.0 waits unless it is told not to; v0.3 waits only if it is told to, whatever else it configures. Source: D32. */
function isBlocking({ configuration }: SendMessageRequest, requestedVersion: string): boolean {
  return configuration ? !configuration.returnImmediately : requestedVersion !== '0.3'
}

/** Identifies a repeat: the whole request, the same over all transports. */
function fingerprint(params: SendMessageRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([params.message, params.configuration, params.metadata]))
    .digest('hex')
}

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
import { listTasks } from '../../tasks/list-tasks.ts'
import { cancelTask } from '../../tasks/move-task.ts'
import type { PushContext } from '../../tasks/push-configs.ts'
import { type SendMessageInput, sendMessage } from '../../tasks/send-message.ts'
import { isInterrupted, isTerminal, type TaskState } from '../../tasks/state.ts'
import type { A2aMessage, Task } from '../../tasks/task.ts'
import { type A2aCall, callOf } from './call.ts'
import { requireCalledTask } from './called-task.ts'
import { cardAgent } from './card-agent.ts'
import { toA2aError } from './errors.ts'
import { historyLimit, listQuery, requireMessage, typed } from './params.ts'
import { createConfig, deleteConfig, getConfig, keepingConfig, listConfigs } from './push-operations.ts'
import { sharedCard } from './shared-card.ts'
import { positionSeen, streamFromNow, streamSince } from './task-stream.ts'
import { loadA2aTask } from './task-view.ts'

export interface A2aContext extends PushContext {
  readonly log: Logger
  readonly cards: CardDocuments
  /** How long a blocking SendMessage waits, in ms. */
  readonly blockingTimeoutMs: number
}

const isSettled = (state: TaskState): boolean => isTerminal(state) || isInterrupted(state)
/** A message's stream ends where its sender must act; `auth-required` is settled elsewhere and the task goes on by itself. */
const endsMessageStream = (state: TaskState): boolean => isTerminal(state) || state === 'input-required'

/** The SDK's request handler over the durable store: any gateway can serve any call, and nothing is answered before it is kept. */
export class DurableRequestHandler implements A2ARequestHandler {
  readonly #context: A2aContext
  readonly #toError: typeof toA2aError

  /** `toError` is for a binding that has more to say of a failure than the specification's errors. */
  constructor(context: A2aContext, toError: typeof toA2aError = toA2aError) {
    this.#context = context
    this.#toError = toError
  }

  /** The SDK asks this for versions and capabilities alone, which all agents share. Cards are served elsewhere. */
  async getAgentCard(): Promise<AgentCard> {
    return sharedCard
  }

  getAuthenticatedExtendedAgentCard(
    _params: GetExtendedAgentCardRequest,
    context: ServerCallContext,
  ): Promise<AgentCard> {
    const { agent, caller } = callOf(context)
    return this.#run('getExtendedAgentCard', () => this.#context.cards.extendedCard(cardAgent(agent), caller))
  }

  sendMessage(params: SendMessageRequest, context: ServerCallContext): Promise<A2aTask> {
    return this.#run('sendMessage', async () => {
      const call = callOf(context)
      const historyLength = historyLimit(params.configuration?.historyLength)
      let task = await this.#send(params, call, context.requestedVersion)
      if (!params.configuration?.returnImmediately && !isSettled(task.state)) {
        task = await waitForTask(this.#context, task.id, {
          isDone: isSettled,
          timeoutMs: this.#context.blockingTimeoutMs,
          signal: call.signal,
        })
      }
      return loadA2aTask(this.#context.db, task, historyLength)
    })
  }

  sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#stream('sendMessageStream', async function* (this: DurableRequestHandler) {
      const call = callOf(context)
      const historyLength = historyLimit(params.configuration?.historyLength)
      const { id } = await this.#send(params, call, context.requestedVersion)
      yield* streamFromNow(this.#context, call, id, { isLast: endsMessageStream, historyLength })
    })
  }

  resubscribe(
    params: SubscribeToTaskRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#stream('resubscribe', async function* (this: DurableRequestHandler) {
      const call = callOf(context)
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
    return this.#run('getTask', async () => {
      const historyLength = historyLimit(params.historyLength)
      const task = await requireCalledTask(this.#context.db, callOf(context), params.id)
      return loadA2aTask(this.#context.db, task, historyLength)
    })
  }

  listTasks(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    return this.#run('listTasks', async () => {
      const { caller, agent } = callOf(context)
      const query = listQuery(params)
      const seesAll = caller.kind === 'operator' || caller.id === agent.id
      const page = await listTasks(this.#context.db, {
        ...query,
        projectId: agent.projectId,
        assigneeId: agent.id,
        originatorId: seesAll ? undefined : caller.id,
      })
      const historyLength = historyLimit(params.historyLength)
      const artifacts = params.includeArtifacts ?? false
      return {
        tasks: await Promise.all(
          page.tasks.map((task) => loadA2aTask(this.#context.db, task, historyLength, artifacts)),
        ),
        nextPageToken: page.nextPageToken,
        pageSize: query.pageSize,
        totalSize: page.totalSize,
      }
    })
  }

  cancelTask(params: CancelTaskRequest, context: ServerCallContext): Promise<A2aTask> {
    return this.#run('cancelTask', async () => {
      const call = callOf(context)
      await requireCalledTask(this.#context.db, call, params.id)
      return loadA2aTask(this.#context.db, await cancelTask(this.#context, call.caller, params.id))
    })
  }

  createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    return this.#run('createTaskPushNotificationConfig', async () =>
      createConfig(this.#context, callOf(context), params, context.requestedVersion),
    )
  }

  getTaskPushNotificationConfig(
    params: GetTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    return this.#run('getTaskPushNotificationConfig', async () => getConfig(this.#context, callOf(context), params))
  }

  listTaskPushNotificationConfigs(
    params: ListTaskPushNotificationConfigsRequest,
    context: ServerCallContext,
  ): Promise<ListTaskPushNotificationConfigsResponse> {
    return this.#run('listTaskPushNotificationConfigs', async () => listConfigs(this.#context, callOf(context), params))
  }

  deleteTaskPushNotificationConfig(
    params: DeleteTaskPushNotificationConfigRequest,
    context: ServerCallContext,
  ): Promise<void> {
    return this.#run('deleteTaskPushNotificationConfig', async () =>
      deleteConfig(this.#context, callOf(context), params),
    )
  }

  #send(request: SendMessageRequest, call: A2aCall, requestedVersion: string): Promise<Task> {
    const params = requestedVersion === '0.3' ? typed(SendMessageRequest, request) : request
    const message = Message.toJSON(requireMessage(params.message)) as A2aMessage
    const push = params.configuration?.taskPushNotificationConfig
    const { idempotencyKey: key, caller } = call
    const input: SendMessageInput = {
      message,
      metadata: params.metadata as JsonObject | undefined,
      idempotency: key === undefined ? undefined : { key, fingerprint: fingerprint(params) },
      within: push && keepingConfig(this.#context, call, push, requestedVersion),
    }
    return sendMessage(this.#context, caller, call.agent, input)
  }

  async #run<T>(operation: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      throw this.#toError(error, this.#context.log, operation)
    }
  }

  async *#stream(
    operation: string,
    act: (this: DurableRequestHandler) => AsyncGenerator<StreamResponse, void, undefined>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    try {
      yield* act.call(this)
    } catch (error) {
      throw this.#toError(error, this.#context.log, operation)
    }
  }
}

/** What a repeat must repeat: the whole request, whatever transport it came by. */
function fingerprint(params: SendMessageRequest): string {
  return createHash('sha256')
    .update(JSON.stringify([params.message, params.configuration, params.metadata]))
    .digest('hex')
}

import {
  type Task as A2aTask,
  AgentCard,
  type CancelTaskRequest,
  type DeleteTaskPushNotificationConfigRequest,
  type GetExtendedAgentCardRequest,
  type GetTaskPushNotificationConfigRequest,
  type GetTaskRequest,
  type ListTaskPushNotificationConfigsRequest,
  type ListTaskPushNotificationConfigsResponse,
  type ListTasksRequest,
  type ListTasksResponse,
  type Message,
  type SendMessageRequest,
  type StreamResponse,
  type SubscribeToTaskRequest,
  type TaskPushNotificationConfig,
} from '@a2a-js/sdk'
import type { A2ARequestHandler, ServerCallContext } from '@a2a-js/sdk/server'
import { Problem } from '../../errors.ts'
import { afterCommit } from '../../storage/as-call.ts'
import type { Reader } from '../../storage/database.ts'
import { listTasks, nextPageToken } from '../../tasks/list-tasks.ts'
import { readWakePolicy } from '../../tasks/message-input.ts'
import { cancelTask } from '../../tasks/move-task.ts'
import { loadTaskContents } from '../../tasks/read-task.ts'
import { isTerminal, type TaskState } from '../../words/task-states.ts'
import type { A2aOperationName } from '../access/a2a-operations.ts'
import type { FrontContext } from '../front-context.ts'
import { marked } from '../traced.ts'
import type { A2aCall } from './call.ts'
import { requireCalledTask } from './called-task.ts'
import { cardAgent } from './card-agent.ts'
import { toA2aError } from './errors.ts'
import { historyLimit, listQuery } from './params.ts'
import { createConfig, deleteConfig, getConfig, listConfigs } from './push-operations.ts'
import { type OperationTools, runOperation, streamOperation } from './run-operation.ts'
import { answerSend, sendFromCall } from './send-from-call.ts'
import { positionSeen, streamFromNow, streamSince } from './task-stream.ts'
import { loadA2aTask, toA2aTask } from './task-view.ts'

/** The protocols and capabilities of every agent. The SDK's transports check requests against them. */
const sharedCard: AgentCard = AgentCard.fromJSON({
  name: 'Rouse',
  supportedInterfaces: ['1.0', '0.3'].flatMap((protocolVersion) =>
    ['JSONRPC', 'HTTP+JSON', 'GRPC'].map((protocolBinding) => ({ url: '/', protocolBinding, protocolVersion })),
  ),
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
})

/** A message's stream ends when its sender has to act. After `auth-required` the task continues without the sender. */
const endsMessageStream = (state: TaskState): boolean => isTerminal(state) || state === 'input-required'

/** The SDK's request handler on the durable store: any gateway can serve any call, and answers only what is stored. */
export class DurableRequestHandler implements A2ARequestHandler {
  readonly #context: FrontContext
  readonly #tools: OperationTools

  /** @param toError for a binding that has other errors than the specification's */
  constructor(context: FrontContext, toError: typeof toA2aError = toA2aError) {
    this.#context = context
    const { audit, db, metrics, log } = context
    this.#tools = { audit, db, metrics, log, toError }
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
    return this.#run('SendMessage', context, '', (call) =>
      answerSend(this.#context, params, call, context.requestedVersion),
    )
  }

  sendMessageStream(
    params: SendMessageRequest,
    context: ServerCallContext,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    return this.#stream('SendStreamingMessage', context, '', async function* (this: DurableRequestHandler, call) {
      const historyLength = historyLimit(params.configuration?.historyLength)
      const { task } = await sendFromCall(this.#context, params, call, context.requestedVersion)
      try {
        yield* streamFromNow(this.#context, call, task.id, { isLast: endsMessageStream, historyLength })
      } catch (error) {
        throw afterCommit(error)
      }
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
      return loadA2aTask(this.#context.db, task, { historyLength, sizeMax: call.sizeMax })
    })
  }

  listTasks(params: ListTasksRequest, context: ServerCallContext): Promise<ListTasksResponse> {
    return this.#run('ListTasks', context, '', (call) => listCalledTasks(this.#context.db, call, params))
  }

  cancelTask(params: CancelTaskRequest, context: ServerCallContext): Promise<A2aTask> {
    return this.#run('CancelTask', context, params.id, async (call) => {
      await requireCalledTask(this.#context.db, call, params.id)
      const task = await cancelTask(this.#markedFor(call), call.caller, params.id, readWakePolicy(params.metadata))
      return loadA2aTask(this.#context.db, task, { sizeMax: call.sizeMax })
    })
  }

  createTaskPushNotificationConfig(
    params: TaskPushNotificationConfig,
    context: ServerCallContext,
  ): Promise<TaskPushNotificationConfig> {
    return this.#run('CreateTaskPushNotificationConfig', context, params.taskId, async (call) =>
      createConfig(this.#markedFor(call), call, params, context.requestedVersion),
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
      deleteConfig(this.#markedFor(call), call, params),
    )
  }

  #markedFor({ caller }: A2aCall): FrontContext {
    return marked(this.#context, { person: caller.name })
  }

  #run<T>(
    name: A2aOperationName,
    context: ServerCallContext,
    target: unknown,
    act: (call: A2aCall) => Promise<T>,
  ): Promise<T> {
    return runOperation(this.#tools, { name, context, target }, act)
  }

  #stream(
    name: A2aOperationName,
    context: ServerCallContext,
    target: unknown,
    act: (this: DurableRequestHandler, call: A2aCall) => AsyncGenerator<StreamResponse, void, undefined>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    return streamOperation(this.#tools, { name, context, target }, (call) => act.call(this, call))
  }
}

/** Returns a page of the tasks of the called agent: all of them for the agent and the operator, else those that the caller sent. */
async function listCalledTasks(
  db: Reader,
  { caller, agent, sizeMax }: A2aCall,
  params: ListTasksRequest,
): Promise<ListTasksResponse> {
  const query = listQuery(params)
  const seesAll = caller.kind === 'operator' || caller.id === agent.id
  const page = await listTasks(db, {
    ...query,
    projectId: agent.projectId,
    agentId: agent.id,
    originatorId: seesAll ? undefined : caller.id,
  })
  const historyLength = historyLimit(params.historyLength)
  const artifacts = params.includeArtifacts ?? false
  const contents = await loadTaskContents(db, page.tasks, { historyLength, artifacts, sizeMax })
  return {
    tasks: contents.map(toA2aTask),
    nextPageToken: nextPageToken(page, contents),
    pageSize: query.pageSize,
    totalSize: page.totalSize,
  }
}

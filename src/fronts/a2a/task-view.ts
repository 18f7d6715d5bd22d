import { Task as A2aTask, type StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent } from '@a2a-js/sdk'
import type { JsonObject } from '../../lib/json.ts'
import type { LogEvent } from '../../log/event.ts'
import type { Reader } from '../../storage/database.ts'
import { readChunk } from '../../tasks/artifact-store.ts'
import { type AnswerSize, loadTaskContent, type TaskContent } from '../../tasks/read-task.ts'
import type { A2aMessage, Task } from '../../tasks/task.ts'
import { readTaskMessage } from '../../tasks/task-message-store.ts'
import { findTask } from '../../tasks/task-store.ts'
import type { TaskState } from '../../words/task-states.ts'

/** `input-required` is `TASK_STATE_INPUT_REQUIRED` on the wire (specification §5.5). */
export function protoState(state: TaskState): string {
  return `TASK_STATE_${state.toUpperCase().replace('-', '_')}`
}

/** A task as the SDK's transports take it. Its metadata counts what does not fit into an answer, as `omitted`. */
export function toA2aTask(document: TaskContent): A2aTask {
  const { task, statusMessage, history, artifacts, omitted } = document
  return A2aTask.fromJSON({
    id: task.id,
    contextId: task.contextId,
    status: protoStatus(task.state, task.statusAt, statusMessage),
    history,
    artifacts,
    ...(task.metadata || task.reason || omitted
      ? { metadata: { ...task.metadata, ...(task.reason ? { reason: task.reason } : {}), ...(omitted && { omitted }) } }
      : {}),
  })
}

interface LoadOptions extends AnswerSize {
  readonly historyLength?: number | undefined
}

/** @param options.historyLength as in a request; undefined: as many messages as an answer carries */
export async function loadA2aTask(db: Reader, task: Task, options: LoadOptions = {}): Promise<A2aTask> {
  return toA2aTask(await loadTaskContent(db, task, options))
}

/**
 * A task's event in the form of streams and push notifications; undefined for an event that they leave out. Source:
 * specification §4.2, §4.3.3.
 */
export async function toStreamResponse(db: Reader, event: LogEvent): Promise<StreamResponse | undefined> {
  const { data, taskId } = event
  if (taskId === null) return undefined
  if (event.type === 'task.state_changed')
    return { payload: { $case: 'statusUpdate', value: await statusUpdate(db, taskId, data) } }
  if (event.type === 'task.artifact_added') {
    const chunk = await readChunk(db, taskId, Number(data.seq))
    if (!chunk) return undefined
    const { artifact, append, lastChunk } = chunk
    const value = TaskArtifactUpdateEvent.fromJSON({ taskId, contextId: data.contextId, artifact, append, lastChunk })
    return { payload: { $case: 'artifactUpdate', value } }
  }
  return undefined
}

/**
 * The same for push notifications. They start like a stream: the first event of a new task becomes the task itself. In v0.3 each of them
 * is the task as it is now (v0.3 §9.5), with the state that the event is about.
 */
export async function toPushResponse(
  db: Reader,
  event: LogEvent,
  version: '1.0' | '0.3',
): Promise<StreamResponse | undefined> {
  const isMove = event.type === 'task.state_changed'
  const isWhole = version === '0.3' || (isMove && event.data.previousState === null)
  const task = isWhole && event.taskId ? await findTask(db, event.taskId) : undefined
  if (!task) return toStreamResponse(db, event)
  const value = toA2aTask(await loadTaskContent(db, task))
  const status = isMove ? (await statusUpdate(db, task.id, event.data)).status : value.status
  return { payload: { $case: 'task', value: { ...value, status } } }
}

async function statusUpdate(db: Reader, taskId: string, data: JsonObject): Promise<TaskStatusUpdateEvent> {
  const { statusMessageSeq, newState, lastModifiedAt, contextId, reason } = data
  const message = typeof statusMessageSeq === 'number' ? await readTaskMessage(db, taskId, statusMessageSeq) : null
  return TaskStatusUpdateEvent.fromJSON({
    taskId,
    contextId,
    status: protoStatus(newState as TaskState, Date.parse(String(lastModifiedAt)), message),
    ...(reason ? { metadata: { reason } } : {}),
  })
}

function protoStatus(state: TaskState, at: number, message: A2aMessage | null): JsonObject {
  return { state: protoState(state), timestamp: new Date(at).toISOString(), ...(message ? { message } : {}) }
}

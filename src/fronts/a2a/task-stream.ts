import type { StreamResponse } from '@a2a-js/sdk'
import { Problem } from '../../errors.ts'
import { RecentValues } from '../../lib/recent-values.ts'
import type { LogEvent } from '../../log/event.ts'
import { readTaskEvents } from '../../log/event-store.ts'
import type { Reader } from '../../storage/database.ts'
import type { TaskContext } from '../../tasks/context.ts'
import { followTask, readTaskMoment } from '../../tasks/follow-task.ts'
import type { Task } from '../../tasks/task.ts'
import { isTerminal, type TaskState } from '../../words/task-states.ts'
import type { A2aCall } from './call.ts'
import { loadA2aTask, toStreamResponse } from './task-view.ts'

type Responses = AsyncGenerator<StreamResponse, void, undefined>

const pageSize = 200

interface StreamOptions {
  /** True when the stream ends with this state. */
  readonly isLast: (state: TaskState) => boolean
  readonly historyLength?: number | undefined
}

/** The current task, then every event after that moment: none is sent twice and none is missed. */
export async function* streamFromNow(
  context: TaskContext,
  call: A2aCall,
  taskId: string,
  { isLast, historyLength }: StreamOptions,
): Responses {
  const moment = await readTaskMoment(context.db, taskId)
  if (!moment) throw new Problem('task-not-found', { detail: `No task ${taskId}.` })
  await call.startLoading()
  call.position = moment.logId
  const value = await loadA2aTask(context.db, moment.task, { historyLength, sizeMax: call.sizeMax })
  yield { payload: { $case: 'task', value } }
  if (isLast(moment.task.state)) return
  yield* toResponses(context, call, followTask(context, taskId, { after: moment.logId, signal: call.signal, isLast }))
}

/** The events after a reconnecting client's position, and those that follow unless the task is finished. */
export function streamSince(context: TaskContext, call: A2aCall, task: Task, position: number): Responses {
  const events = isTerminal(task.state)
    ? readToEnd(context.db, task.id, position)
    : followTask(context, task.id, { after: position, signal: call.signal })
  return toResponses(context, call, events)
}

/** The position of a reconnecting client. Undefined for one beyond the end of the task's log: this gateway has not sent it. */
export async function positionSeen(
  { db }: TaskContext,
  { lastEventId }: A2aCall,
  taskId: string,
): Promise<number | undefined> {
  if (lastEventId === undefined) return undefined
  const moment = await readTaskMoment(db, taskId)
  return moment && lastEventId <= moment.logId ? lastEventId : undefined
}

async function* toResponses({ db }: TaskContext, call: A2aCall, events: AsyncIterable<LogEvent>): Responses {
  for await (const event of events) {
    await call.startLoading()
    const response = await responses.of(event, (event) => toStreamResponse(db, event))
    call.position = event.logId
    if (response) yield response
    else call.noteLoaded()
  }
}

/** Streams that share a read of the log share its responses. */
const responses = new RecentValues<LogEvent, Promise<StreamResponse | undefined>>(64)

/** The events of a finished task after a position. The last ones may be of a kind that streams leave out, so this never waits. */
async function* readToEnd(db: Reader, taskId: string, position: number): AsyncGenerator<LogEvent, void, undefined> {
  let after = position
  for (;;) {
    const page = await readTaskEvents(db, taskId, after, pageSize)
    yield* page
    const last = page.at(-1)
    if (!last || page.length < pageSize) return
    after = last.logId
  }
}

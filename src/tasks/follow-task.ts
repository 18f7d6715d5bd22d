import type { LogEvent } from '../log/event.ts'
import { readTaskEvents } from '../log/event-store.ts'
import { follow } from '../log/follow.ts'
import type { Reader } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import { isTerminal, type TaskState } from '../words/task-states.ts'
import type { TaskContext } from './context.ts'
import type { Task } from './task.ts'
import { findTask } from './task-store.ts'

const position = statement<{ taskId: string }, { logId: number | null }>(
  sql`select max(log_id) as "logId" from event where task_id = ${p('taskId')}`,
)

/**
 * A task together with the logId of its last event: the task contains that event and none after it. It reads the position before
 * and after the task, and again until both agree.
 */
export async function readTaskMoment(db: Reader, taskId: string): Promise<{ task: Task; logId: number } | undefined> {
  for (;;) {
    const before = await db.get(position, { taskId })
    const task = await findTask(db, taskId)
    const after = await db.get(position, { taskId })
    if (!task) return undefined
    if (before?.logId === after?.logId) return { task, logId: after?.logId ?? 0 }
  }
}

/** Yields the task's events after a logId as they are appended. Ends after a change to a state that `isLast` accepts; default: final states. */
export async function* followTask(
  context: TaskContext,
  taskId: string,
  options: { after: number; signal: AbortSignal; isLast?: (state: TaskState) => boolean },
): AsyncGenerator<LogEvent, void, undefined> {
  const isLast = options.isLast ?? isTerminal
  const events = follow(context.notifier, {
    key: taskId,
    after: options.after,
    signal: options.signal,
    read: (after, limit) => readTaskEvents(context.db, taskId, after, limit),
  })
  for await (const event of events) {
    yield event
    if (event.type === 'task.state_changed' && isLast(event.data.newState as TaskState)) return
  }
}

/** Waits, without polling, until `isDone` accepts the task's state. Returns the task at that time, or at the time-out or the abort. */
export async function waitForTask(
  context: TaskContext,
  taskId: string,
  options: { isDone: (state: TaskState) => boolean; timeoutMs: number; signal: AbortSignal },
): Promise<Task> {
  const waiting = new AbortController()
  const signal = AbortSignal.any([options.signal, waiting.signal])
  const cancel = context.clock.after(options.timeoutMs, () => waiting.abort())
  try {
    const moment = await readTaskMoment(context.db, taskId)
    if (moment && !options.isDone(moment.task.state)) {
      for await (const _ of followTask(context, taskId, { after: moment.logId, signal, isLast: options.isDone }));
    }
    return (await findTask(context.db, taskId)) as Task
  } finally {
    cancel()
  }
}

import type { LogEvent } from '../log/event.ts'
import { readTaskEvents } from '../log/event-store.ts'
import { follow } from '../log/follow.ts'
import type { Reader } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import type { TaskContext } from './context.ts'
import { isTerminal, type TaskState } from './state.ts'
import type { Task } from './task.ts'
import { findTask } from './task-store.ts'

const position = statement<{ taskId: string }, { logId: number | null }>(
  sql`select max(log_id) as "logId" from event where task_id = ${p('taskId')}`,
)

/**
 * A task and the place in the log up to which it is told: what follows that place is not in it yet, and what comes
 * before is. Two reads that agree make it one moment.
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

/** The task's events after a watermark, as they come, ending behind the one that finishes it or where `isLast` says. */
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

/** Waits until the task's state is one of those wanted, without polling. Answers the task as it is then, or at the time-out. */
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

import { exitCodes } from '../../client/failure.ts'
import { mayPass } from '../../client/wakes/streamed-wakes.ts'
import { BackOff } from '../../lib/back-off.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** The exit codes of the states in which a wait for a task ends: those of A2A. */
const exitCodeOf: Readonly<Record<string, number>> = {
  TASK_STATE_COMPLETED: exitCodes.ok,
  TASK_STATE_FAILED: exitCodes.unsuccessful,
  TASK_STATE_REJECTED: exitCodes.unsuccessful,
  TASK_STATE_CANCELED: exitCodes.unsuccessful,
  TASK_STATE_INPUT_REQUIRED: exitCodes.asks,
  TASK_STATE_AUTH_REQUIRED: exitCodes.asks,
}

const lookMs = { first: 1_000, max: 5_000 } as const

/** Returns the task in a result of A2A's `SendMessage` or `GetTask`; undefined: it is a message. Pure. */
export function taskIn(result: JsonObject): JsonObject | undefined {
  return isJsonObject(result.task) ? result.task : result.status ? result : undefined
}

/** True when the task of a result asks its originator something. Pure. */
export const asksIn = (result: JsonObject): boolean => exitCodeOf[stateIn(result)] === exitCodes.asks

/** The exit code for the result of a wait. A message is an answer. Pure. */
export function exitCodeFor(result: JsonObject): number {
  return taskIn(result) === undefined ? exitCodes.ok : (exitCodeOf[stateIn(result)] ?? exitCodes.unsuccessful)
}

/**
 * Returns the first result whose task is finished or asks something. A gateway lets a call wait for a task for a minute or so: then it is
 * asked with `read`, ever more rarely, also when it was away. Errors: refusals of `read`; the signal's reason.
 */
export async function settled(
  first: JsonObject,
  read: (taskId: string) => Promise<JsonObject>,
  { signal, note }: { signal: AbortSignal | undefined; note: (text: string) => void },
): Promise<JsonObject> {
  let result = first
  let isAway = false
  const backOff = new BackOff(lookMs)
  for (;;) {
    const task = taskIn(result)
    if (task === undefined || stateIn(result) in exitCodeOf) return result
    await backOff.pause(signal)
    signal?.throwIfAborted()
    try {
      result = await read(String(task.id))
      isAway = false
    } catch (error) {
      if (signal?.aborted || !mayPass(error)) throw error
      if (!isAway) note('The gateway does not answer; waiting for it …')
      isAway = true
    }
  }
}

function stateIn(result: JsonObject): string {
  const { status } = taskIn(result) ?? {}
  return isJsonObject(status) ? String(status.state) : ''
}

import { plain } from '../../client/terminal-text.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { asksIn, taskIn } from '../run/sent-task.ts'
import { fields } from './table.ts'
import { artifactText, howToAnswer, messageText } from './task-view.ts'

/**
 * The result of A2A's `SendMessage` (specification §3.1.1): a task, or a message.
 * @param waited the task is finished or asks for something: its answer is shown too
 */
export function sendResultText(result: JsonObject, waited: boolean): string {
  const task = taskIn(result)
  if (!task) {
    const message = isJsonObject(result.message) ? result.message : result
    return `${fields({ state: 'answered' })}${messageText(message)}`
  }
  const status = isJsonObject(task.status) ? task.status : {}
  const head = { task: task.id, state: stateText(status.state) }
  if (!waited) return `${fields(head)}Follow it: rouse task show ${plain(task.id)}\n`
  const artifacts = Array.isArray(task.artifacts) ? task.artifacts.filter(isJsonObject) : []
  const message = isJsonObject(status.message) ? messageText(status.message) : ''
  return (
    fields({ ...head, context: task.contextId, changed: status.timestamp }) +
    message +
    artifacts.map(artifactText).join('') +
    (asksIn(result) ? howToAnswer(task.id) : '')
  )
}

/** `input-required` for `TASK_STATE_INPUT_REQUIRED`. */
function stateText(state: unknown): string {
  return String(state ?? 'unknown')
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
}

import type { Io } from '../../client/io.ts'
import type { TaskSummaryView, TaskView } from '../../client/route-types.ts'
import { plain } from '../../client/terminal-text.ts'
import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import { fields, table } from './table.ts'
import { when, whenLong } from './when.ts'

export function taskTable(io: Io, tasks: readonly TaskSummaryView[]): string {
  return table(
    io,
    ['TASK', 'STATE', 'VERSION', 'FROM', 'TO', 'CHANGED', 'SUBJECT'],
    tasks.map((task) => [
      task.id,
      task.state,
      task.version,
      task.originator,
      task.assignee,
      when(io, task.lastModifiedAt),
      taskSubject(task),
    ]),
    'No tasks. Send one with: rouse send @donna "Please review this"',
    ['VERSION', 'CHANGED', 'FROM'],
  )
}

/** The first line of the first message that is there. */
export function taskSubject({ history }: Pick<TaskSummaryView, 'history'>): string {
  return plain(partsText(history[0]?.parts).split('\n')[0]).slice(0, 60)
}

export function taskText(io: Io, task: TaskView): string {
  const head = fields({
    task: task.id,
    state: task.state,
    version: task.version,
    from: task.originator,
    to: task.assignee,
    // Handed over since: A2A clients still reach it at the agent that it was sent to.
    'sent to': task.agent === task.assignee ? undefined : task.agent,
    context: task.contextId,
    created: whenLong(io, task.createdAt),
    changed: whenLong(io, task.lastModifiedAt),
  })
  const messages = [...task.history, ...(task.status.message ? [task.status.message] : [])]
  const unique = new Map(messages.map((message) => [message.messageId, message]))
  const asks = task.state === 'input-required' || task.state === 'auth-required'
  return (
    head +
    [...unique.values()].map(messageText).join('') +
    task.artifacts.map(artifactText).join('') +
    (asks ? howToAnswer(task.id) : '')
  )
}

/** The command with which the originator of a task answers what it asks. */
export function howToAnswer(taskId: unknown): string {
  return `\nAnswer it: rouse send --task ${plain(taskId)} "…"\n`
}

/** A message in the JSON of A2A, as REST and JSON-RPC carry it. */
export function messageText(message: { readonly role?: unknown; readonly parts?: unknown }): string {
  const role = String(message.role ?? 'unknown')
  return `\n[${plain(role.replace(/^ROLE_/, '').toLowerCase())}]\n${plain(partsText(message.parts), 'lines')}\n`
}

/** An artifact in the JSON of A2A. */
export function artifactText(artifact: JsonObject): string {
  const name = artifact.name || artifact.artifactId || 'unnamed'
  return `\n[artifact ${plain(name)}]\n${plain(partsText(artifact.parts), 'lines')}\n`
}

/** The text of the parts. Parts that are not text are named by their kind. */
function partsText(parts: unknown): string {
  return (Array.isArray(parts) ? parts : []).map(partText).join('\n')
}

function partText(part: unknown): string {
  if (!isJsonObject(part)) return '(unknown part)'
  if (typeof part.text === 'string') return part.text
  const kind = Object.keys(part).find((key) => part[key] !== undefined) ?? 'empty'
  return kind === 'data' ? JSON.stringify(part.data) : `(${kind} part)`
}

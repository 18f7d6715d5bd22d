import type { Io } from '../../client/io.ts'
import type { TaskSummaryView, TaskView } from '../../client/route-types.ts'
import { clip, plain } from '../../client/terminal-text.ts'
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
  return firstLine(history[0]?.parts)
}

const firstLine = (parts: unknown): string => clip(plain(partsText(parts).split('\n')[0]), 60)

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
  return (
    head +
    [...unique.values()].map(messageText).join('') +
    task.artifacts.map(artifactText).join('') +
    (asksState(task.state) ? howToAnswer(task.id) : '')
  )
}

/** The states in which a task asks its originator something. */
export const askingStates = ['input-required', 'auth-required'] as const satisfies readonly TaskView['state'][]

export const asksState = (state: TaskView['state']): boolean => (askingStates as readonly string[]).includes(state)

/** The command with which the originator of a task answers what it asks. */
export function howToAnswer(taskId: unknown): string {
  return `\nAnswer it: rouse answer ${plain(taskId)} "…"\n`
}

/** Tasks that ask something, with what they ask. */
export function questionTable(io: Io, tasks: readonly TaskSummaryView[]): string {
  const rows = tasks.map((task) => [
    task.id,
    task.state,
    task.assignee,
    when(io, task.status.timestamp),
    firstLine(task.status.message?.parts) || taskSubject(task),
  ])
  const shown = table(io, ['TASK', 'STATE', 'FROM', 'SINCE', 'QUESTION'], rows, '', ['STATE'])
  return `Waiting for your answer:\n${shown}Answer one: rouse answer <task> "…"\n`
}

/** A message in the JSON of A2A, as REST and JSON-RPC carry it. */
export function messageText(message: { readonly role?: unknown; readonly parts?: unknown }): string {
  const role = String(message.role ?? 'unknown')
  return `\n[${plain(role.replace(/^ROLE_/, '').toLowerCase())}]\n${plain(partsText(message.parts), 'lines')}\n`
}

/** An artifact in the JSON of A2A. One without a name has its place: its id says nothing to people. */
export function artifactText(artifact: JsonObject, index: number): string {
  return `\n[artifact ${plain(artifact.name || index + 1)}]\n${plain(partsText(artifact.parts), 'lines')}\n`
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

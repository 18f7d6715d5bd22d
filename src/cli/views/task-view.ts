import { isJsonObject } from '../../lib/json.ts'
import type { Io } from '../io.ts'
import { fields, table } from '../table.ts'
import { plain } from '../terminal-text.ts'

export interface PartView {
  text?: string
  [field: string]: unknown
}

export interface MessageView {
  messageId?: string
  role?: string
  parts?: PartView[]
}

export interface ArtifactView {
  artifactId?: string
  name?: string
  parts?: PartView[]
}

/** A task as the gateway shows it, over REST and as the answer of A2A's `SendMessage`. */
export interface TaskView {
  id: string
  contextId?: string
  version?: number
  state?: string
  originator?: string
  assignee?: string
  status?: { state?: string; timestamp?: string; message?: MessageView | null }
  history?: MessageView[]
  artifacts?: ArtifactView[]
  createdAt?: string
  lastModifiedAt?: string
}

export function taskTable(io: Io, tasks: readonly TaskView[]): string {
  return table(
    io,
    ['TASK', 'STATE', 'VERSION', 'FROM', 'TO', 'CHANGED', 'SUBJECT'],
    tasks.map((task) => [
      task.id,
      stateOf(task),
      task.version,
      task.originator,
      task.assignee,
      task.lastModifiedAt ?? task.status?.timestamp,
      plain(partsText(task.history?.[0]?.parts).split('\n')[0]).slice(0, 60),
    ]),
    'No tasks. Send one with: rouse send @donna "Please review this"',
  )
}

export function taskText(task: TaskView): string {
  const head = fields({
    task: task.id,
    state: stateOf(task),
    version: task.version,
    from: task.originator,
    to: task.assignee,
    context: task.contextId,
    created: task.createdAt,
    changed: task.lastModifiedAt ?? task.status?.timestamp,
  })
  const said = [...(task.history ?? []), ...(task.status?.message ? [task.status.message] : [])]
  const unique = said.filter((message, i) => !message.messageId || firstIndex(said, message.messageId) === i)
  return head + unique.map(messageText).join('') + (task.artifacts ?? []).map(artifactText).join('')
}

/** `working`, whichever way the answer spells it (`TASK_STATE_WORKING` in A2A v1.0). */
export function stateOf(task: TaskView): string {
  const state = task.state ?? task.status?.state ?? 'unknown'
  return state
    .replace(/^TASK_STATE_/, '')
    .toLowerCase()
    .replaceAll('_', '-')
}

export function artifactText(artifact: ArtifactView): string {
  const name = artifact.name || artifact.artifactId || 'unnamed'
  return `\n[artifact ${plain(name)}]\n${plain(partsText(artifact.parts), 'lines')}\n`
}

function messageText(message: MessageView): string {
  const role = (message.role ?? 'unknown').replace(/^ROLE_/, '').toLowerCase()
  return `\n[${plain(role)}]\n${plain(partsText(message.parts), 'lines')}\n`
}

/** The text of the parts; what is not text is named. */
function partsText(parts: readonly PartView[] | undefined): string {
  return (parts ?? [])
    .map((part) => {
      if (typeof part.text === 'string') return part.text
      const kind = isJsonObject(part)
        ? (Object.keys(part).find((key) => part[key] !== undefined) ?? 'empty')
        : 'unknown'
      return kind === 'data' ? JSON.stringify(part.data) : `(${kind} part)`
    })
    .join('\n')
}

function firstIndex(messages: readonly MessageView[], messageId: string): number {
  return messages.findIndex((message) => message.messageId === messageId)
}

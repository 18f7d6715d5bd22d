import { Refused } from '../failure.ts'
import type { GatewayClient } from '../gateway-client.ts'
import type { RestApi } from '../route-types.ts'
import { promptText } from './prompt-text.ts'
import type { Wake } from './wake.ts'

type Message = RestApi['GET /v1/messages/:id']['answer']
type Task = RestApi['GET /v1/tasks/:id']['answer']

/** The subject of a wake: a wake itself is only a pointer. */
export interface WakeContext {
  readonly messages: readonly Message[]
  readonly tasks: readonly Task[]
  /** How the rest is read, where the wake names more than this. */
  readonly rest?: string
}

/** A digest may cover thousands of events: its summary counts them all. */
const readMax = 20

/**
 * Reads the messages and tasks that a wake names. Those that no longer exist, or may not be read, are left out. Errors: `Unreachable`, and
 * those of a gateway that fails.
 */
export async function readWakeContext(gateway: GatewayClient, wake: Wake): Promise<WakeContext> {
  const named = referencesOf(wake)
  const messageIds = textsOf(named, 'messageId')
  const messages = await readAll(messageIds.slice(0, readMax), (id) =>
    gateway.call('GET /v1/messages/:id', { params: { id } }),
  )
  const taskIds = new Set([
    ...textsOf(named, 'taskId'),
    ...messages.map(({ taskId }) => taskId).filter((id) => id !== null),
  ])
  const tasks = await readAll([...taskIds].slice(0, readMax), (id) =>
    gateway.call('GET /v1/tasks/:id', { params: { id } }),
  )
  const isPart = wake.payload.refsTruncated === true || messageIds.length > readMax || taskIds.size > readMax
  return { messages, tasks, ...(isPart ? { rest: restOf({ messages, tasks }) } : {}) }
}

/** The last line of what a reader gets a part of. */
function restOf({ messages: [message, ...others], tasks: [task, ...more] }: WakeContext): string {
  const both = 'the tools read_inbox and list_tasks (or: rouse inbox --unread, rouse task list)'
  const one = task
    ? `the tool get_task (or: rouse task show ${task.id})`
    : `the tool read_inbox (or: rouse thread ${message?.messageId})`
  return `(Cut here. Read the rest with ${others.length + more.length > 0 ? both : one}.)`
}

/**
 * The text for a model about the subject of a wake: the texts of the messages, and of a task's newest message where the mail has none of
 * its own, each after the line that names its author. At most so many characters; the last line says when it is cut.
 */
export function promptOf(context: WakeContext, lengthMax: number): string {
  const { messages, tasks } = context
  const mail = messages.map(({ from, body, subject, taskId }) => ({
    from,
    text: body ?? taskText(tasks.find(({ id }) => id === taskId)) ?? subject,
  }))
  const mailed = new Set(messages.map(({ taskId }) => taskId))
  const others = tasks
    .filter(({ id }) => !mailed.has(id))
    .map((task) => ({ from: lastWriter(task), text: taskText(task) }))
  const said = [...mail, ...others].flatMap(({ from, text }) => (text ? [promptText(from, text)] : []))
  const text = said.join('\n\n')
  if (text.length <= lengthMax && context.rest === undefined) return text
  const note = `\n\n${context.rest ?? restOf(context)}`
  return text.slice(0, lengthMax - note.length).toWellFormed() + note
}

/** The gateway sets the role of what an assignee writes, and lets only the originator write as the other one. */
function lastWriter({ history, originator, assignee }: Task): string {
  return history.at(-1)?.role === 'ROLE_USER' ? originator : assignee
}

function taskText(task: Task | undefined): string | undefined {
  const parts = task?.history.at(-1)?.parts ?? []
  const texts = parts.map((part) => ('text' in part && typeof part.text === 'string' ? part.text : '')).filter(Boolean)
  return texts.length > 0 ? texts.join('\n') : undefined
}

function referencesOf({ payload }: Wake): readonly Record<string, unknown>[] {
  return Array.isArray(payload.refs) ? (payload.refs as Record<string, unknown>[]) : [payload]
}

function textsOf(references: readonly Record<string, unknown>[], name: string): string[] {
  const ids = references.map((reference) => reference[name]).filter((id) => typeof id === 'string')
  return [...new Set(ids)]
}

async function readAll<Item>(ids: readonly string[], read: (id: string) => Promise<Item>): Promise<Item[]> {
  const items: Item[] = []
  for (const id of ids) {
    try {
      items.push(await read(id))
    } catch (error) {
      if (!(error instanceof Refused) || Number(error.problem.status) >= 500) throw error
    }
  }
  return items
}

import type { JsonObject } from '../../src/lib/json.ts'
import type { Reply } from '../../test/real-harnesses/fake-model.ts'

/** The prompt of the model now, and its answer. `what`: `wake`, `found`, `working`, `completed`, `other`. */
interface Step {
  readonly what: string
  readonly reply: Reply
}

const namespace = 'mcp__rouse'
const call = (tool: string, input: JsonObject): Reply => ({ tool, namespace, input })

/** Works the task that a wake points to: list it, take it, count the words of its text, complete it. Pure. */
export function nextReply(body: JsonObject): Step {
  const items = Array.isArray(body.input) ? (body.input as JsonObject[]) : []
  const last = items.at(-1) ?? {}
  const said = JSON.stringify(last)
  if (last.type !== 'function_call_output') {
    if (!said.includes('[Rouse ')) return { what: 'other', reply: { text: 'I wait for work.' } }
    return { what: 'wake', reply: call('list_tasks', { state: 'submitted' }) }
  }
  const task = taskIn(JSON.stringify(last.output))
  if (task === undefined) return { what: 'other', reply: { text: `I do not understand that: ${said.slice(0, 500)}` } }
  const { id, version, state } = task
  if (state === 'submitted') {
    return { what: 'found', reply: call('move_task', { taskId: id, to: 'working', expectedVersion: version }) }
  }
  if (state === 'working') {
    const artifacts = [{ name: 'answer', parts: [{ text: `${wordsIn(JSON.stringify(items))} words` }] }]
    const input = { taskId: id, to: 'completed', expectedVersion: version, artifacts }
    return { what: 'working', reply: call('move_task', input) }
  }
  return { what: state, reply: { text: 'I have counted the words, and completed the task.' } }
}

/** The task in the result of a tool, which is text with lines `name: value`, or JSON. */
function taskIn(said: string): { id: string; version: number; state: string } | undefined {
  const field = (name: string) => new RegExp(`\\b${name}\\\\*"?: ?\\\\*"?([\\w-]+)`).exec(said)?.[1]
  const [id, version, state] = [field('id'), field('version'), field('state')]
  if (id === undefined || version === undefined || state === undefined) return undefined
  return { id, version: Number(version), state }
}

function wordsIn(all: string): number {
  const text = /Count the words: ([^.]*)\./.exec(all)?.[1] ?? ''
  return text.split(/\s+/).filter(Boolean).length
}

import type { CallToolResult } from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../lib/json.ts'
import type { FollowedView } from '../../rest/followers/view.ts'
import type { AskApi } from '../ask-api.ts'
import { Refused } from '../refused.ts'
import { shownJson } from '../shown-json.ts'
import { toolResult } from '../tools/run-tool.ts'
import { sendTask } from '../tools/send-task.ts'
import { shortTask } from '../tools/task-view.ts'
import type { AnyTool } from '../tools/tool.ts'
import { waitForMessages } from '../tools/wait-for-messages.ts'

/** The part that is shown of a task that has ended: it comes into the context of a model that did not ask for it just now. */
const room = { textBytes: 4_000, bytes: 12_000 }

const mailText =
  'Mail has come. Read it with read_inbox, deal with it, and report each message with mark_message: it stays unread until then. Then call wait_for_messages again, if you want to be woken by the next.'

/**
 * Returns the result of an MCP task that has ended: a short pointer. It has the words of other agents, which are no instruction. Mail is not
 * shown: it is delivered when the model reads it.
 */
export async function endOf(ask: AskApi, view: FollowedView): Promise<CallToolResult> {
  // A result within another one is not completed by the library.
  return { resultType: 'complete', ...(await resultOf(ask, view)) }
}

async function resultOf(ask: AskApi, { taskId, state }: FollowedView): Promise<CallToolResult> {
  if (taskId === null) return ended(waitForMessages, mailText, { arrived: true, waitedSeconds: 0 })
  const task = await readTask(ask, taskId)
  const shown = task === undefined ? {} : { contextId: task.contextId, task: shownJson(task, room).value }
  const result = ended(sendTask, sayEnd({ taskId, state: String(state) }), { taskId, state, ...shown })
  return state === 'failed' || state === 'rejected' ? { ...result, isError: true } : result
}

/** A result whose first words are also a field: a client that has the fields may show its model nothing else. */
function ended(tool: AnyTool, next: string, output: JsonObject): CallToolResult {
  return toolResult({ ...tool, say: () => next }, { next, ...output })
}

/** Undefined: the key does not see it, or no more. */
async function readTask({ rest }: AskApi, id: string): Promise<JsonObject | undefined> {
  const headers = { 'rouse-pending-signals': 'none' }
  try {
    return shortTask({
      ...(await rest('GET /v1/tasks/:id', { params: { id }, query: { historyLength: '1' }, headers })),
    })
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}

const means: Readonly<Record<string, (id: string) => string>> = {
  'input-required': (id) => `It asks you something: answer with send_task and taskId ${id}.`,
  'auth-required': (id) => `It needs a permission that your user may give: then go on with send_task and taskId ${id}.`,
  completed: (id) => `get_task shows all of it, with taskId ${id}.`,
}

/** The first line of the result for a model. Pure. */
function sayEnd({ taskId, state }: { readonly taskId: string; readonly state: string }): string {
  const more = means[state] ?? ((id: string) => `get_task says why, with taskId ${id}.`)
  return `The task ${taskId} that you sent is ${state}. ${more(taskId)}`
}

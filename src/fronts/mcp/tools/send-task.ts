import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import { sizeLimits } from '../../../limits.ts'
import { isTerminal, type TaskState } from '../../../words/task-states.ts'
import { address, instantText, text } from '../../rest/fields.ts'
import { newMessage } from '../../rest/messages/input.ts'
import { agentPath } from '../agent-path.ts'
import type { AskApi } from '../ask-api.ts'
import type { ApiRequest } from '../call-api.ts'
import { follow, McpTask } from '../followed/mcp-task.ts'
import { Refused } from '../refused.ts'
import { shownJson } from '../shown-json.ts'
import { idempotencyKey, taskId } from './fields.ts'
import { shownArtifact, shownTask } from './outputs.ts'
import { shortTask } from './task-view.ts'
import { acts, tool } from './tool.ts'

const fields = newMessage.shape

const input = z.strictObject({
  to: address.describe('The agent: @donna, or web:@donna of another project'),
  text: text(sizeLimits.mailBody.max).min(1).describe('What to do'),
  taskId: taskId.describe('Add to this task of yours').optional(),
  contextId: taskId.describe('The conversation of an earlier task, for a new task in it').optional(),
  referenceTaskIds: z.array(taskId).max(20).describe('Earlier tasks that this one builds on').optional(),
  wait: z.boolean().describe('Wait for the result, at most 55 seconds. Usually false').optional(),
  expiresAt: instantText('must be an instant in ISO 8601, e.g. 2026-04-26T10:00:00.000Z')
    .describe('The task fails if nobody has begun it by then')
    .optional(),
  priority: fields.priority,
  wakePolicy: fields.wakePolicy.describe('Usually left out: what the recipient prefers'),
  taggedConcepts: fields.taggedConcepts.describe('Words that subscriptions filter by'),
  idempotencyKey,
})

/** A task for an agent, over A2A. Source: A2A SendMessage (HTTP+JSON, section 11). */
export const sendTask = tool({
  name: 'send_task',
  title: 'Send a task',
  description:
    'Asks another agent to do something, and returns the task at once. Its changes come to you only with a wake subscription to TASK_STATE_CHANGED: else look at it in a later turn with get_task, or with list_tasks and role originator, and not in a loop. Say in text all that the other agent needs: it does not see your conversation. ' +
    'With taskId it adds to a task of yours: an answer to a question (input-required), or more to know. wait: true waits up to 55 seconds for the end. For a message that needs no result use send_message.',
  followed:
    'Asks another agent to do something. The answer comes by itself: when the task ends or asks you something, you get a notification with it, and a new turn if you are idle. So go on, or end your turn; do not wait, and do not ask again. Say in text all that the other agent needs: it does not see your conversation. ' +
    'With taskId it adds to a task of yours: an answer to a question (input-required), or more to know. To stop the background task ends only the notification: to cancel the work use move_task with canceled. For a message that needs no result use send_message.',
  input,
  output: z.looseObject({
    taskId: z.string(),
    contextId: z.string(),
    state: z.string(),
    answer: shownArtifact.optional().describe('What the agent answered at once'),
    task: shownTask.extend({ artifacts: z.array(shownArtifact) }).optional(),
  }),
  annotations: acts,
  quotes: true,
  say: ({ taskId: id, state }) =>
    `The task ${id} is ${state}.${isTerminal(state as TaskState) ? '' : ' Look in a later turn, with get_task, what has become of it.'}`,
  run: async (api, { wait, ...given }, { own, followsTasks }) => {
    const { project } = await own(api)
    const sent = sentIn(await api.request(sendRequest({ ...given, wait: wait && !followsTasks }, project)))
    const followed = followsTasks ? await follow(api, sent.taskId) : undefined
    if (followed instanceof McpTask) return followed
    const current = await readSent(api, sent.taskId)
    return { ...sent, state: String(current?.state ?? sent.state), ...(current === undefined ? {} : { task: current }) }
  },
})

/** The part that is shown of the message that answers at once: less than one result has room for. */
const answerRoom = { textBytes: 20_000, bytes: 40_000 }

/** The part that is shown of the answer to a send. The rest is not kept while the task is read: that may wait, and hundreds of calls with it. */
function sentIn({ task, message }: JsonObject) {
  const sent = isJsonObject(task) ? task : isJsonObject(message) ? { ...message, id: message.taskId } : {}
  const given = { taskId: String(sent.id), contextId: String(sent.contextId), state: stateOf(sent) }
  if (!isJsonObject(message)) return given
  const [answer] = shortTask({ history: [message] }).history as [JsonObject]
  const { value, isCut } = shownJson(answer, answerRoom)
  return { ...given, answer: value, ...(isCut ? { isCut } : {}) }
}

type ToolInput = z.output<typeof input>

function sendRequest(given: ToolInput, project: string): ApiRequest {
  const { to, text: said, taskId: task, contextId, referenceTaskIds, wait, idempotencyKey: key, ...rest } = given
  const { priority, wakePolicy, taggedConcepts, expiresAt } = rest
  const message = {
    messageId: messageIdFor(to, key),
    role: 'ROLE_USER',
    parts: [{ text: said }],
    metadata: { priority, wakePolicy, taggedConcepts, expiresAt },
    ...(task === undefined ? {} : { taskId: task }),
    ...(contextId === undefined ? {} : { contextId }),
    ...(referenceTaskIds === undefined ? {} : { referenceTaskIds }),
  }
  return {
    method: 'POST',
    path: `${agentPath('to', to, project)}/message:send`,
    body: { message, configuration: { returnImmediately: wait !== true } },
    headers: { 'a2a-version': '1.0', ...(key === undefined ? {} : { 'idempotency-key': key }) },
  }
}

/** The same key makes the same message id, so that the gateway sees one request twice. */
function messageIdFor(to: string, key: string | undefined): string {
  if (key === undefined) return randomUUID()
  return createHash('sha256').update(`${to.toLowerCase()}\n${key}`).digest('hex').slice(0, 32)
}

/** The task as the API shows it. A key that may only send does not see it. */
async function readSent({ rest }: AskApi, id: string): Promise<JsonObject | undefined> {
  try {
    return shortTask({ ...(await rest('GET /v1/tasks/:id', { params: { id }, query: { historyLength: 5 } })) })
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}

/** `TASK_STATE_INPUT_REQUIRED` as `input-required`. */
function stateOf({ status }: JsonObject): string {
  const state = isJsonObject(status) ? String(status.state) : 'TASK_STATE_COMPLETED'
  return state
    .replace(/^TASK_STATE_/, '')
    .replaceAll('_', '-')
    .toLowerCase()
}

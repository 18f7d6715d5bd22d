import { z } from 'zod'
import type { JsonObject } from '../../../lib/json.ts'
import { sizeLimits } from '../../../limits.ts'
import { address, line, text } from '../../rest/fields.ts'
import { transitionInput } from '../../rest/tasks/input.ts'
import { type Actions, checkAction } from '../tools/actions.ts'
import { shortTask } from '../tools/task-view.ts'
import { reachesOut } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'

const actions = {
  answer: { needs: ['taskId', 'expectedVersion', 'text'], takes: [] },
  cancel: { needs: ['taskId', 'expectedVersion'], takes: ['text'] },
  handoff: { needs: ['taskId', 'to'], takes: ['text'] },
} as const satisfies Actions<string>

/** The newest messages of the task as it is then. */
const historyShown = 3

export const taskWrite = operatorTool({
  name: 'task_write',
  scopes: ['read', 'send', 'work'],
  title: 'Answer, cancel or reassign a task',
  description:
    'Answers, cancels or reassigns a task for the operator. answer: answers the question of a task in input-required or auth-required. Its agent takes your text as the words of its user, and goes on. cancel: ends the task for good, and notifies both parties. handoff: gives the task to another agent (to), who gets text as mail; use it when the assignee does not work on the task. Read the task first with tasks_read: if it has changed since expectedVersion, the call is refused and shows the current task. Answer only what your user has decided.',
  input: z.strictObject({
    action: z.enum(['answer', 'cancel', 'handoff']),
    taskId: line(500).min(1).describe('The id of a task; with handoff also the ref of another claim'),
    expectedVersion: transitionInput.shape.expectedVersion
      .unwrap()
      .describe('The version that you have read; not with handoff')
      .optional(),
    text: text(Math.min(sizeLimits.mailBody.max, 64_000))
      .min(1)
      .describe('The answer, the reason, or what the new owner needs to know')
      .optional(),
    to: address.describe('With handoff: the agent, @donna').optional(),
  }),
  output: z.looseObject({
    action: z.string(),
    taskId: z.string(),
    state: z.string().optional(),
    version: z.int().optional(),
    owner: z.string().optional().describe('Who works on it from now on'),
    messageId: z.string().optional(),
    task: z.looseObject({}).optional(),
  }),
  annotations: reachesOut,
  quotes: true,
  say: ({ taskId, state, version, owner }) =>
    state === undefined ? `${taskId}: handed over to ${owner}.` : `The task is now ${state} (version ${version}).`,
  run: async ({ rest }, given) => {
    checkAction(given, actions)
    const { action, taskId, expectedVersion, text: message, to = '' } = given
    if (action === 'handoff') {
      const { owner, messageId } = await rest('POST /v1/claims/handoff', { body: { ref: taskId, to, message } })
      return { action, taskId, owner, messageId }
    }
    const move = action === 'answer' ? 'submitted' : 'canceled'
    const moved = await rest('POST /v1/tasks/:id/transitions', {
      params: { id: taskId },
      body: { to: move, expectedVersion, message },
    })
    const { state, version, history } = moved
    const task: JsonObject = shortTask({ ...moved, artifacts: undefined, history: history.slice(-historyShown) })
    return { action, taskId, state, version, task }
  },
})

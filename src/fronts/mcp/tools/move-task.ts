import { z } from 'zod'
import { sizeLimits } from '../../../limits.ts'
import { text } from '../../rest/fields.ts'
import { transitionInput } from '../../rest/tasks/input.ts'
import { taskId } from './fields.ts'
import { shownArtifact, shownTask } from './outputs.ts'
import { shortTask } from './task-view.ts'
import { acts, tool } from './tool.ts'

const fields = transitionInput.shape

export const moveTask = tool({
  name: 'move_task',
  title: 'Move a task',
  description:
    'Changes the state of a task. When you work on it: working (you have begun), input-required (you ask the sender: say what in message), completed (give the result in message or artifacts), failed or rejected (say why). When you sent it: canceled, or submitted with a message to answer a question. ' +
    'Read the task first: expectedVersion is the version that you have read. If the task has changed meanwhile the call is refused and shows the current task: read it, and decide again. ' +
    'A task that is completed, failed, canceled or rejected stays so.',
  input: z.strictObject({
    taskId,
    to: fields.to,
    expectedVersion: fields.expectedVersion.unwrap().describe('The version of the task that you have read'),
    message: text(sizeLimits.mailBody.max)
      .min(1)
      .describe('What you say about it: a question, a result, a reason')
      .optional(),
    artifacts: fields.artifacts.describe('Results, e.g. [{"name": "review.md", "parts": [{"text": "…"}]}]'),
    answerAs: fields.answerAs.describe('message: who waits for this task gets your message itself as the answer'),
    wakePolicy: fields.wakePolicy.describe('Usually left out: what the other party prefers'),
  }),
  output: shownTask.extend({ artifacts: z.array(shownArtifact) }),
  annotations: acts,
  quotes: true,
  say: ({ state, version }) => `The task is now ${state} (version ${version}).`,
  run: async ({ rest }, { taskId: id, ...body }) =>
    shortTask({ ...(await rest('POST /v1/tasks/:id/transitions', { params: { id }, body })) }),
})

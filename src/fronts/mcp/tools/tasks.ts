import { z } from 'zod'
import type { JsonObject } from '../../../lib/json.ts'
import { taskQuery } from '../../rest/tasks/input.ts'
import { shownJson } from '../shown-json.ts'
import { compact } from './compact.ts'
import { counted } from './counted.ts'
import { pageSize, pageToken, taskId } from './fields.ts'
import { nextPageToken, shownArtifact, shownTask } from './outputs.ts'
import { shortTask } from './task-view.ts'
import { reads, tool } from './tool.ts'

const listDefault = 20
const historyDefault = 20
const fields = taskQuery.shape

export const listTasks = tool({
  name: 'list_tasks',
  title: 'List tasks',
  description:
    'Lists the tasks that you work on, or with role originator those that you sent to others, with the newest message of each. Use it to see what is open (state submitted or working) and what waits for you. get_task shows one whole task.',
  input: z.strictObject({
    role: fields.role.describe('assignee (usual): you work on them. originator: you sent them'),
    state: fields.state.describe('Only tasks in this state'),
    contextId: fields.contextId.describe('Only tasks of this conversation'),
    pageSize: pageSize(50, listDefault),
    pageToken,
  }),
  output: z.looseObject({ tasks: z.array(shownTask), totalSize: z.int(), nextPageToken }),
  annotations: reads,
  quotes: true,
  say: ({ tasks, totalSize }) =>
    totalSize === 0 ? 'No tasks match.' : `${tasks.length} of ${counted(totalSize, 'task')}.`,
  run: async ({ rest }, { pageSize: size = listDefault, ...query }) => {
    const page = await rest('GET /v1/tasks', { query: { ...query, pageSize: size, historyLength: 1 } })
    return {
      tasks: listedTasks(page.tasks.map((task) => shortTask({ ...task }))),
      totalSize: page.totalSize,
      ...(page.nextPageToken === '' ? {} : { nextPageToken: page.nextPageToken }),
    }
  },
})

/** The most that a list shows of the texts in its tasks. */
const listBytes = 24_000

/** Tasks whose texts have equal shares of the room: what is said in one hides no other. Pure. */
export function listedTasks(tasks: readonly JsonObject[]): JsonObject[] {
  const bytes = Math.floor(listBytes / Math.max(1, tasks.length))
  const room = { textBytes: Math.floor(bytes / 2), bytes }
  return tasks.map(({ statusMessage, history, metadata, ...task }) => {
    const said = compact({ statusMessage: statusMessage ?? null, metadata: metadata ?? null })
    return { ...task, ...shownJson({ history, ...said }, room).value }
  })
}

export const getTask = tool({
  name: 'get_task',
  title: 'Read a task',
  description:
    'Shows a task: its state, its version, what was said (newest messages last) and its artifacts. Read it before you work on it and before move_task, which needs the version. Very long texts are cut; the resource rouse://task/{id} has them whole.',
  input: z.strictObject({
    taskId,
    historyLength: z
      .int()
      .min(0)
      .max(100)
      .describe(`How many of the newest messages: usually ${historyDefault}`)
      .optional(),
  }),
  output: shownTask.extend({ artifacts: z.array(shownArtifact) }),
  annotations: reads,
  quotes: true,
  say: ({ state, version, assignee, originator }) =>
    `The task is ${state} (version ${version}). ${originator} sent it, ${assignee} works on it.`,
  run: async ({ rest }, { taskId: id, historyLength = historyDefault }) =>
    shortTask({ ...(await rest('GET /v1/tasks/:id', { params: { id }, query: { historyLength } })) }),
})

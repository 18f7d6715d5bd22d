import { z } from 'zod'
import type { JsonObject } from '../../../lib/json.ts'
import { taskQuery } from '../../rest/tasks/input.ts'
import type { AskApi } from '../ask-api.ts'
import { Refused } from '../refused.ts'
import { compact } from '../tools/compact.ts'
import { counted } from '../tools/counted.ts'
import { pageSize, pageToken, taskId } from '../tools/fields.ts'
import { nextPageToken, shownArtifact, shownTask } from '../tools/outputs.ts'
import { shortTask } from '../tools/task-view.ts'
import { listedTasks } from '../tools/tasks.ts'
import { reads } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'

const listDefault = 20
const historyShown = 20
/** The first events of a task, and the newest wakes of a party that are looked through. */
const eventsShown = 100
const wakesSearched = 100

const fields = taskQuery.shape

export const tasksRead = operatorTool({
  name: 'tasks_read',
  scopes: ['read'],
  title: 'Tasks and their stories',
  description:
    'Lists the tasks of the project, newest first, with the newest message of each. Or with taskId one whole task: what was said, its artifacts, and its story: each event with who caused it, and each wake about it with what its receiver answered. Read a task before task_write, which needs its version. Wakes that nobody answered explain a task that nobody begins.',
  input: z.strictObject({
    taskId: taskId.describe('Only this one, whole').optional(),
    agent: fields.agent.describe('Only those that this agent works on'),
    role: fields.role.describe('With originator: those that agent has sent, or without agent the operator'),
    state: fields.state.describe('Only tasks in this state'),
    pageSize: pageSize(50, listDefault),
    pageToken,
  }),
  output: z.looseObject({
    tasks: z.array(shownTask).optional(),
    totalSize: z.int().optional(),
    nextPageToken,
    task: shownTask.extend({ artifacts: z.array(shownArtifact) }).optional(),
    story: z
      .array(z.looseObject({ at: z.string(), type: z.string() }))
      .optional()
      .describe('Oldest first. Absent: the log of this project has nothing of it'),
  }),
  annotations: reads,
  quotes: true,
  say: ({ task, tasks = [], totalSize = 0 }) =>
    task === undefined
      ? `${tasks.length} of ${counted(totalSize, 'task')}.`
      : `The task is ${task.state} (version ${task.version}). ${task.originator} sent it, ${task.assignee} works on it.`,
  run: async (api, { taskId: id, pageSize: size = listDefault, ...query }) => {
    if (id !== undefined) return readStory(api, id)
    const page = await api.rest('GET /v1/tasks', { query: { ...query, pageSize: size, historyLength: 1 } })
    return {
      tasks: listedTasks(page.tasks.map((task) => shortTask({ ...task }))),
      totalSize: page.totalSize,
      ...(page.nextPageToken === '' ? {} : { nextPageToken: page.nextPageToken }),
    }
  },
})

async function readStory({ rest }: AskApi, id: string): Promise<JsonObject> {
  const task = await rest('GET /v1/tasks/:id', { params: { id }, query: { historyLength: historyShown } })
  const events = await orNone(
    rest('GET /v1/events', { query: { task: id, limit: eventsShown } }).then((page) => page.events),
  )
  const parties = [...new Set([task.assignee, task.originator])].filter((name) => /^@(?!operator$)/.test(name))
  const logIds = events.map(({ logId }) => logId)
  const isAbout = ([from, to = from]: readonly [number, number?]) => logIds.some((id) => id >= from && id <= to)
  const wakes: JsonObject[] = []
  for (const agent of logIds.length === 0 ? [] : parties) {
    const query = { agent, limit: wakesSearched }
    const deliveries = await orNone(rest('GET /v1/deliveries', { query }).then((page) => page.deliveries))
    for (const delivery of deliveries) {
      const { createdAt, eventId, subscriptionId, harnessTarget, outcome, attempts, step, nextAttemptAt } = delivery
      const wake = { at: createdAt, type: 'wake', agent, eventId, subscriptionId, harnessTarget, outcome, step }
      const said = { nextAttemptAt: nextAttemptAt ?? null, last: attempts.at(-1) ?? null }
      if (isAbout(delivery.logIds)) wakes.push(compact({ ...wake, tries: attempts.length, ...said }))
    }
  }
  const told = events.map(({ createdAt, type, actor, data }) => ({ at: createdAt, type, actor, ...plainOf(data) }))
  const story = [...told, ...wakes].sort((one, other) => (String(one.at) < String(other.at) ? -1 : 1))
  return { ...(story.length === 0 ? {} : { story }), task: shortTask({ ...task }) }
}

/** The fields of an event that say what happened: texts are in the task itself. */
function plainOf(data: JsonObject): JsonObject {
  const known = ['previousState', 'newState', 'version', 'reason', 'owner', 'previousOwner', 'assignee', 'messageId']
  return Object.fromEntries(known.flatMap((name) => (data[name] === undefined ? [] : [[name, data[name]]])))
}

/** A task of another project has its events in that log, and a party may be an agent that was removed. */
async function orNone<Item>(list: Promise<readonly Item[]>): Promise<readonly Item[]> {
  try {
    return await list
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return []
    throw error
  }
}

import type { PastEvent } from '../log/event.ts'
import { partyOf } from '../registry/agents/party.ts'
import type { Reader } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import { stateChanged } from './task-events.ts'
import { findTasks, partsByHandOver } from './task-store.ts'

/** The states in which the assignee acts next. */
const openStates = ['submitted', 'working'] as const
const openMax = 500

interface Open {
  agentId: string
  state: string
  limit: number
}
const open = partsByHandOver.map((part) =>
  statement<Open, { id: string }>(sql`select id from task
    where assignee_id = ${p('agentId')} and state = ${p('state')} and ${part} order by status_at desc, id desc ${limited}`),
)

/**
 * Returns the ids of the tasks that an agent has to work on: of each state at most five hundred that were sent to it, and as many
 * that were handed to it, the newest. Source: D29.
 */
export async function listOpenTasks(db: Reader, agentId: string): Promise<string[]> {
  const reading = openStates.flatMap((state) => open.map((part) => db.all(part, { agentId, state, limit: openMax })))
  const found = await Promise.all(reading)
  return found.flat().map(({ id }) => id)
}

/**
 * Returns those of the tasks whose state is from before an instant (ms since the epoch) as events for the log of a project, made from
 * the tasks themselves: of what they were before, no more is known.
 */
export async function openTasksBefore(
  db: Reader,
  beforeMs: number,
  ids: readonly string[],
  projectId: string,
): Promise<PastEvent[]> {
  const tasks = (await findTasks(db, ids)).filter(({ statusAt }) => statusAt < beforeMs)
  return Promise.all(
    tasks.map(async (task) => {
      const [originator, assignee] = await Promise.all([partyOf(db, task.originatorId), partyOf(db, task.assigneeId)])
      const by = task.state === 'submitted' ? originator : assignee
      const change = { actor: by.identity, actorId: by.id, originator, assignee, previousState: null }
      return { ...stateChanged(task, change, projectId), createdAt: task.statusAt }
    }),
  )
}

/** True when an agent has a task to work on. */
export async function hasOpenTasks(db: Reader, agentId: string): Promise<boolean> {
  for (const state of openStates) {
    for (const part of open) if (await db.get(part, { agentId, state, limit: 1 })) return true
  }
  return false
}

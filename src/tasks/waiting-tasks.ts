import type { Reader } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { TaskState } from '../words/task-states.ts'
import type { Task } from './task.ts'
import { type TaskRow, taskColumns, taskFromRow } from './task-store.ts'

interface Waiting {
  readonly state: TaskState
  /** Only tasks that are in the state since this instant or before, ms since the epoch. */
  readonly until: number
  readonly limit: number
}

const inState = sql`state = ${p('state')} and status_at <= ${p('until')} order by status_at, id ${limited}`
const ofProject = statement<Waiting & { projectId: string }, TaskRow>(
  sql`select ${taskColumns} from task where project_id = ${p('projectId')} and ${inState}`,
)
const ofOriginator = statement<Waiting & { originatorId: string }, TaskRow>(
  sql`select ${taskColumns} from task where originator_id = ${p('originatorId')} and ${inState}`,
)

/** Returns the tasks of a project, or those that an agent started, that are in a state for the longest time. */
export async function listWaitingTasks(
  db: Reader,
  of: { readonly projectId: string } | { readonly originatorId: string },
  waiting: Waiting,
): Promise<Task[]> {
  const rows =
    'projectId' in of
      ? await db.all(ofProject, { ...waiting, ...of })
      : await db.all(ofOriginator, { ...waiting, ...of })
  return rows.map(taskFromRow)
}

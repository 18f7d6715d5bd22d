import type { Reader } from '../storage/database.ts'
import { joined, limited, p, type SQL, sql, statement } from '../storage/statement.ts'
import type { TaskState } from '../words/task-states.ts'
import type { Task } from './task.ts'
import { partsByHandOver, type TaskRow, taskColumns, taskFromRow } from './task-store.ts'

interface WaitingQuery {
  readonly state: TaskState
  /** Only tasks that are in the state since this instant or before, ms since the epoch. */
  readonly until: number
  /** The most tasks of an assignee. */
  readonly limit: number
}

interface Shares extends WaitingQuery {
  readonly projectId: string
  /** The first and the last assignee whose tasks are read. '' is no assignee: its counts are those of all. */
  readonly first: string
  readonly last: string
  /** Only tasks after this place, in the order of their status time and id. */
  readonly afterAt: number
  readonly afterId: string
  /** The most tasks that are counted. */
  readonly most: number
}

/** A task, and how many of its assignee are in its state. */
interface WaitingTask {
  readonly task: Task
  readonly total: number
}

const inState = sql`state = ${p('state')} and status_at <=`
const after = sql`(status_at, id) > (${p('afterAt')}, ${p('afterId')})`

const ownIn = (part: SQL): SQL =>
  sql`from task where assignee_id = c.assignee_id and ${part} and ${inState} ${p('until')}`

/** One step for each assignee that ever had a task, and a share of its tasks: the number of all tasks, or of all agents, does not matter. */
function shareOf(part: SQL): SQL {
  const own = ownIn(part)
  const counts = partsByHandOver.map(
    (one) => sql`(select count(*) from (select 1 ${ownIn(one)} limit ${p('most')}) as counted)`,
  )
  return sql`select ${taskColumns}, share.total from (select c.assignee_id as owner,
      coalesce((select status_at ${own} and ${after} order by status_at, id limit 1 offset ${p('skipped')}), ${p('until')}) as up_to,
      ${sql.join(counts, sql` + `)} as total
    from task_count c where c.agent_id = '' and c.assignee_id >= ${p('first')} and c.assignee_id <= ${p('last')} and c.originator_id = ''
      and c.project_id = ${p('projectId')} and c.state = ${p('state')} and c.total > 0) share
    cross join task where assignee_id = ${joined('share.owner')} and ${part} and ${inState} share.up_to and ${after}`
}
const ofProject = partsByHandOver.map((part) =>
  statement<Shares & { readonly skipped: number }, TaskRow & { total: number }>(shareOf(part)),
)
const ofOriginator = statement<WaitingQuery & { originatorId: string }, TaskRow>(sql`select ${taskColumns} from task
  where originator_id = ${p('originatorId')} and ${inState} ${p('until')} order by status_at, id ${limited}`)

/** Returns a share of the tasks of each assignee of a project that are in a state for the longest time. */
export async function listWaitingTasks(db: Reader, shares: Shares): Promise<WaitingTask[]> {
  const read = ofProject.map((part) => db.all(part, { ...shares, skipped: shares.limit - 1 }))
  return (await Promise.all(read)).flat().map(({ total, ...row }) => ({ task: taskFromRow(row), total }))
}

/** Returns the tasks that an agent started that are in a state for the longest time. */
export async function listWaitingOf(db: Reader, originatorId: string, waiting: WaitingQuery): Promise<Task[]> {
  return (await db.all(ofOriginator, { ...waiting, originatorId })).map(taskFromRow)
}

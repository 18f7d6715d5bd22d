import { p, type SQL, sql } from '../storage/statement.ts'
import { type TaskState, taskStates } from '../words/task-states.ts'
import { handedOver, withItsAgent } from './task-store.ts'

/** The fields that a list selects by. */
export interface TaskFilters {
  readonly projectId?: string | undefined
  /** The agent that they were sent to. */
  readonly agentId?: string | undefined
  readonly assigneeId?: string | undefined
  readonly originatorId?: string | undefined
  readonly contextId?: string | undefined
  readonly state?: TaskState | undefined
  /** ms since the epoch, inclusive: tasks whose status has not changed since then are left out. */
  readonly statusSince?: number | undefined
}
export type FilterName = keyof TaskFilters

/** A part of an index, newest status first, that has tasks of a list. */
export interface TaskRange {
  /** The conditions that the index finds. */
  readonly within: readonly SQL[]
  /** The conditions that each of its entries is checked for. None: all of them are in the list. */
  readonly also: readonly SQL[]
}

const filters: Record<FilterName, SQL> = {
  projectId: sql`project_id = ${p('projectId')}`,
  agentId: sql`agent_id = ${p('agentId')}`,
  assigneeId: sql`assignee_id = ${p('assigneeId')}`,
  originatorId: sql`originator_id = ${p('originatorId')}`,
  contextId: sql`context_id = ${p('contextId')} and context_id <> ''`,
  state: sql`state = ${p('state')}`,
  statusSince: sql`status_at >= ${p('statusSince')}`,
}

/** The ranges that have the tasks of a list with these filters, each task in one of them. Pure. */
export function rangesOf(names: readonly FilterName[]): TaskRange[] {
  const has = (name: FilterName): boolean => names.includes(name)
  // The task that began the context has its id, and is in no index of contexts.
  if (has('contextId')) {
    const { within, also } = range(names, ['contextId'])
    return [
      { within, also },
      { within: [sql`id = ${p('beginnerId')} and context_id = ''`, ...within.slice(1)], also },
    ]
  }
  if (has('agentId') && has('originatorId')) return [range(names, ['agentId', 'originatorId'])]
  // Every other index has the state before the time.
  const states = has('state') ? [filters.state] : taskStates.map((state) => sql`state = ${state}`)
  return partsOf(names).flatMap(({ within, also }) => states.map((state) => ({ within: [...within, state], also })))
}

function partsOf(names: readonly FilterName[]): TaskRange[] {
  const party = (['agentId', 'assigneeId', 'originatorId'] as const).find((name) => names.includes(name)) ?? 'projectId'
  const { within, also } = range(names, [party, 'state'])
  if (party === 'originatorId' || party === 'projectId') return [{ within, also }]
  // Where an agent works on what was sent to it, the index has the assignee alone.
  const sent = party === 'agentId' ? [sql`assignee_id = ${p('agentId')}`, ...within.slice(1)] : within
  return [
    { within: [...sent, withItsAgent], also },
    { within: [...within, handedOver], also },
  ]
}

/** @param keys the filters that the index finds; the state is left out here, and the time can always be found */
function range(names: readonly FilterName[], keys: readonly FilterName[]): TaskRange {
  const timed = [...keys, 'statusSince'] as const
  const within = timed.filter((name) => name !== 'state' && names.includes(name as FilterName))
  const also = names.filter((name) => !timed.includes(name))
  return { within: within.map((name) => filters[name as FilterName]), also: also.map((name) => filters[name]) }
}

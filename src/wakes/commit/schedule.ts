import type { LogEvent, NewEvent, Trigger } from '../../log/event.ts'
import {
  type Filters,
  type HarnessTarget,
  isDeliverable,
  type Subscription,
  type WakeTarget,
} from '../../registry/subscriptions/subscription.ts'
import type { Pipelined, Transaction } from '../../storage/database.ts'
import { ListStatement } from '../../storage/list.ts'
import { pipelined } from '../../storage/pipelined.ts'
import { RowsStatement } from '../../storage/rows.ts'
import { lateFilter, p, sql } from '../../storage/statement.ts'
import { dueAt } from '../rules/window.ts'
import { leaseIdle } from '../store/lease-store.ts'
import { holdEvents, mayBeHeld } from './hold-events.ts'

export interface Candidate {
  id: string
  /** Who owns it. */
  agentId: string
  audience: string
  kind: 'wake' | 'push'
  trigger: Trigger | null
  filters: string
  harnessTarget: HarnessTarget
  target: string
  coalesceMs: number
  windowUntil: number
  cursorLogId: number
  dueAt: number | null
}

const columns =
  sql.raw(`id, agent_id as "agentId", audience, kind, trigger, filters, harness_target as "harnessTarget", target, coalesce_ms as "coalesceMs",
  window_until as "windowUntil", cursor_log_id as "cursorLogId", due_at as "dueAt"`)
// A subscription that is due, or being sent for, needs no word: its run reads on until nothing is left. Only a bridge asks, event
// by event, what its harness is doing.
const idleOf = new ListStatement<{ projectId: string }, Candidate>(
  (
    audiences,
  ) => sql`select ${columns} from subscription where audience in (${audiences}) and project_id = ${p('projectId')}
    and status = 'active' and (due_at is null or harness_target = 'bridge-daemon')`,
)
const activeOf = new ListStatement<{ projectId: string }, Candidate>(
  (
    audiences,
  ) => sql`select ${columns} from subscription where audience in (${audiences}) and project_id = ${p('projectId')}
    and status = 'active'`,
)
// An idle subscription has nothing before it but this event: what lies between was not for it, and is never read again.
const setDue = new RowsStatement(
  (value) => sql`${value(0)}, cast(${value(1)} as bigint), cast(${value(2)} as bigint)`,
  3,
  (rows) => sql`update subscription set due_at = v.column2, cursor_log_id = v.column3
  from (values ${rows}) v where id = v.column1 and ${lateFilter(sql`due_at is null`)}`,
)

/** An idle subscription that was leased for one event. */
export interface EventLease {
  readonly subscription: Subscription
  readonly owner: string
  readonly event: LogEvent
}

/** Who sends what falls due. */
export interface Scheduler {
  /** Hears after a commit when something falls due. */
  notifyDue(dueAt: number): void
  /** A name to lease an agent's subscription with in the transaction itself, while there is room to send for it at once. */
  offer(agentId: string): string | undefined
  /** Begins to send for a subscription that was leased in its name, now that the commit is on disk. */
  begin(lease: EventLease): void
  /** Whether there are others to share the work with. */
  hasPeers(): boolean
  /** Hears after a commit that something is due which others may have. */
  notifyYielded(): void
}

/** Whom events concern: agents' and tasks' ids, each with the places of its events. */
export type EventsByAudience = ReadonlyMap<string, readonly number[]>

/** A task is an audience too: of those that push configs name. */
export function indexByAudience(events: readonly NewEvent[]): EventsByAudience {
  const byAudience = new Map<string, number[]>()
  for (const [index, { audience, taskId }] of events.entries()) {
    for (const key of taskId === undefined ? audience : [...audience, taskId]) {
      const known = byAudience.get(key)
      if (known) known.push(index)
      else byAudience.set(key, [index])
    }
  }
  return byAudience
}

/** Finds the subscriptions that events may wake. */
export async function findCandidates(
  tx: Transaction,
  projectId: string,
  events: readonly NewEvent[],
  byAudience: EventsByAudience,
): Promise<Candidate[]> {
  const idle: string[] = []
  const active: string[] = []
  for (const [audience, indexes] of byAudience) {
    const isHeld = indexes.some((index) => mayBeHeld(events[index]!))
    if (isHeld) active.push(audience)
    else idle.push(audience)
  }
  const found = await Promise.all([idleOf.all(tx, { projectId }, idle), activeOf.all(tx, { projectId }, active)])
  return found.flat()
}

/** A subscription that falls due with an event: when, and where its cursor stands before it. */
interface Due {
  readonly id: string
  readonly agentId: string
  readonly event: LogEvent
  readonly dueAt: number
  readonly skippedTo: number
}

/**
 * Makes those due whom the events wake, or leases them for sending at once, as far as there is room. Whichever event of a
 * subscription comes first in the log is what its run begins with.
 */
export async function scheduleWakes(
  tx: Transaction,
  written: readonly LogEvent[],
  byAudience: EventsByAudience,
  candidates: readonly Candidate[],
  sending: Scheduler,
): Promise<Pipelined> {
  const looking = candidates.map(async (candidate): Promise<Due | undefined> => {
    const concerning = byAudience.get(candidate.audience)!.map((index) => written[index]!)
    const event = await firstToWake(tx, candidate, concerning)
    return event && dueWith(candidate, event, tx.now)
  })
  const offered = new Map<string, Due & { readonly owner: string }>()
  const later: Due[] = []
  for (const due of await Promise.all(looking)) {
    if (!due) continue
    const owner = due.dueAt <= tx.now ? sending.offer(due.agentId) : undefined
    if (owner === undefined) later.push(due)
    else offered.set(due.id, { ...due, owner })
  }
  const rows = later.map((due) => [due.id, due.dueAt, due.skippedTo])
  let leased: readonly Subscription[] = []
  const leasing = leaseIdle(tx, [...offered.values()]).then((subscriptions) => {
    leased = subscriptions
  })
  tx.onCommit(() => {
    for (const subscription of leased) sending.begin({ subscription, ...offered.get(subscription.id)! })
    if (later.length > 0) sending.notifyDue(Math.min(...later.map((due) => due.dueAt)))
  })
  return pipelined(leasing, setDue.run(tx, rows))
}

function dueWith(candidate: Candidate, event: LogEvent, now: number): Due {
  const at = dueAt(candidate, JSON.parse(candidate.target) as WakeTarget, event.createdAt, now)
  return { id: candidate.id, agentId: candidate.agentId, event, dueAt: at, skippedTo: event.logId - 1 }
}

/** The first of the events that is to be sent to an idle subscription; why others are not is kept. */
async function firstToWake(
  tx: Transaction,
  candidate: Candidate,
  events: readonly LogEvent[],
): Promise<LogEvent | undefined> {
  const { kind, harnessTarget, cursorLogId, dueAt } = candidate
  const news = events.filter((event) => event.logId > cursorLogId)
  const subject = { ...candidate, filters: JSON.parse(candidate.filters) as Filters }
  const [first] = await holdEvents(tx, subject, news)
  return dueAt === null && (kind === 'push' || isDeliverable(harnessTarget)) ? first : undefined
}

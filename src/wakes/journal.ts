import type { AppendEvents } from '../log/append.ts'
import type { LogEvent, NewEvent, Trigger } from '../log/event.ts'
import { numberEvents, writeEvents } from '../log/event-store.ts'
import type { LiveTail } from '../log/live-tail.ts'
import {
  type Filters,
  type HarnessTarget,
  isDeliverable,
  type Subscription,
  type WakeTarget,
} from '../registry/subscription.ts'
import type { Transaction } from '../storage/database.ts'
import { ListStatement } from '../storage/list.ts'
import { p, sql, statement } from '../storage/statement.ts'
import { holdBack, mayBeHeld } from './hold.ts'
import { claimIdle } from './lease-store.ts'

interface Candidate {
  id: string
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
  sql.raw(`id, audience, kind, trigger, filters, harness_target as "harnessTarget", target, coalesce_ms as "coalesceMs",
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
const setDue = statement<{ id: string; dueAt: number; passedTo: number }>(
  sql`update subscription set due_at = ${p('dueAt')}, cursor_log_id = ${p('passedTo')} where id = ${p('id')} and due_at is null`,
)

/** An idle subscription that was claimed for one event. */
export interface EventClaim {
  readonly subscription: Subscription
  readonly owner: string
  readonly event: LogEvent
}

/** Who sends what falls due. */
export interface Sending {
  /** Hears after a commit when something falls due. */
  due(dueAt: number): void
  /** A name to claim with in the transaction itself, while there is room to send at once. */
  offer(): string | undefined
  /** Begins to send for a subscription that was claimed in its name, now that the commit is on disk. */
  begin(claim: EventClaim): void
}

/** Events that one writer appends. */
interface Appending {
  readonly projectId: string
  readonly events: readonly NewEvent[]
}

/**
 * The one way into the log. At the end of a transaction, which is when the log is locked until the commit, the events of all its
 * writers are written, and the subscriptions that they concern are made due, or claimed for sending at once.
 */
export function createJournal(tail: LiveTail, sending: Sending): AppendEvents {
  const write = async (tx: Transaction, appending: readonly Appending[]): Promise<void> => {
    for (const [projectId, events] of byProject(appending)) {
      // The log is locked from the first statement on. What follows from one answer is asked for behind it in one go, so that it
      // is not locked for longer than the store takes.
      const numbering = numberEvents(tx, projectId, events)
      const finding = findCandidates(tx, projectId, events)
      const [written] = await Promise.all([
        numbering,
        numbering.then((numbered) => writeEvents(tx, numbered, events)),
        Promise.all([numbering, finding]).then(([numbered, found]) => wake(tx, numbered, found, sending)),
      ])
      tx.onCommit(() => tail.publish(written))
    }
  }
  return async (tx, projectId, events) => {
    if (events.length > 0) tx.atEnd(write, { projectId, events })
  }
}

/** In an order of its own, so that two transactions never wait for each other's projects. */
function byProject(appending: readonly Appending[]): [string, NewEvent[]][] {
  const projects = new Map<string, NewEvent[]>()
  for (const { projectId, events } of appending) {
    const known = projects.get(projectId)
    if (known) known.push(...events)
    else projects.set(projectId, [...events])
  }
  return [...projects].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Those whom events may wake, each with the events that concern its audience, by their places. */
type Candidates = readonly { readonly candidate: Candidate; readonly events: readonly number[] }[]

/** A task is an audience too: of those that push configs name. */
async function findCandidates(tx: Transaction, projectId: string, events: readonly NewEvent[]): Promise<Candidates> {
  const concerning = new Map<string, number[]>()
  for (const [index, { audience, taskId }] of events.entries()) {
    for (const key of taskId === undefined ? audience : [...audience, taskId]) {
      const known = concerning.get(key)
      if (known) known.push(index)
      else concerning.set(key, [index])
    }
  }
  const idle: string[] = []
  const active: string[] = []
  for (const [audience, indexes] of concerning) {
    const isHeld = indexes.some((index) => mayBeHeld(events[index]!))
    if (isHeld) active.push(audience)
    else idle.push(audience)
  }
  const found = await Promise.all([idleOf.all(tx, { projectId }, idle), activeOf.all(tx, { projectId }, active)])
  return found.flat().map((candidate) => ({ candidate, events: concerning.get(candidate.audience)! }))
}

/** Whichever event of a subscription comes first in the log is what its run begins with. */
async function wake(
  tx: Transaction,
  written: readonly LogEvent[],
  candidates: Candidates,
  sending: Sending,
): Promise<void> {
  const claims: EventClaim[] = []
  let earliest = Number.POSITIVE_INFINITY
  const making = candidates.map(async ({ candidate, events }) => {
    const concerning = events.map((index) => written[index]!)
    const event = await firstToWake(tx, candidate, concerning)
    if (!event) return
    const due = await makeDue(tx, candidate, event, sending, claims)
    earliest = Math.min(earliest, due)
  })
  await Promise.all(making)
  tx.onCommit(() => {
    for (const claim of claims) sending.begin(claim)
    if (earliest !== Number.POSITIVE_INFINITY) sending.due(earliest)
  })
}

/** Answers when the subscription falls due, or infinity when it was claimed for sending at once. */
async function makeDue(
  tx: Transaction,
  candidate: Candidate,
  event: LogEvent,
  sending: Sending,
  claims: EventClaim[],
): Promise<number> {
  const due = dueAt(candidate, JSON.parse(candidate.target) as WakeTarget, event.createdAt, tx.now)
  const passedTo = event.logId - 1
  const owner = due <= tx.now ? sending.offer() : undefined
  const subscription = owner === undefined ? undefined : await claimIdle(tx, candidate.id, owner, passedTo)
  if (owner !== undefined && subscription) {
    claims.push({ subscription, owner, event })
    return Number.POSITIVE_INFINITY
  }
  await tx.run(setDue, { id: candidate.id, dueAt: due, passedTo })
  return due
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
  const [first] = await holdBack(tx, subject, news)
  return dueAt === null && (kind === 'push' || isDeliverable(harnessTarget)) ? first : undefined
}

/**
 * When the window that an event opens, or finds open, is over. Source: S1-39, D3.
 * `leading`: at once after a quiet spell, else when the window behind the last wake closes. All instants in ms since the epoch.
 */
export function dueAt(
  subscription: { coalesceMs: number; windowUntil: number },
  target: WakeTarget,
  createdAt: number,
  now: number,
): number {
  const { coalesceMs, windowUntil } = subscription
  const closesAt = target.coalesceMode === 'leading' ? Math.max(createdAt, windowUntil) : createdAt + coalesceMs
  // No window is longer than this, unless the clock was set back while it was open.
  return Math.min(closesAt, now + coalesceMs)
}

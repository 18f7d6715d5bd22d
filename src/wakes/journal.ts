import type { AppendEvents } from '../log/append.ts'
import type { LogEvent, Trigger } from '../log/event.ts'
import { insertEvents } from '../log/event-store.ts'
import type { LiveTail } from '../log/live-tail.ts'
import {
  type Filters,
  type HarnessTarget,
  isDeliverable,
  type Subscription,
  type WakeTarget,
} from '../registry/subscription.ts'
import type { Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
import { claimIdle } from './lease-store.ts'
import { matches } from './match.ts'

interface Candidate {
  id: string
  kind: 'wake' | 'push'
  trigger: Trigger | null
  filters: string
  harnessTarget: HarnessTarget
  target: string
  coalesceMs: number
  windowUntil: number
}

// A subscription that is due, or being sent for, needs no word: its run reads on until nothing is left.
const idleOf = statement<
  { projectId: string; audience: string },
  Candidate
>(sql`select id, kind, trigger, filters, harness_target as "harnessTarget", target,
    coalesce_ms as "coalesceMs", window_until as "windowUntil"
  from subscription where audience = ${p('audience')} and project_id = ${p('projectId')} and status = 'active' and due_at is null`)
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

/**
 * The one way into the log: appends events, and in the same transaction makes due the subscriptions that they
 * concern, or claims them for sending at once.
 */
export function createJournal(tail: LiveTail, sending: Sending): AppendEvents {
  return async (tx, projectId, events) => {
    const appended = await insertEvents(tx, projectId, events)
    let earliest = Number.POSITIVE_INFINITY
    const claims: EventClaim[] = []
    // Events of one append concern the same few: each is asked for once.
    const idle = new Map<string, Candidate[]>()
    for (const [index, event] of appended.entries()) {
      const audience = events[index]!.audience
      for (const key of event.taskId === null ? audience : [...audience, event.taskId]) {
        earliest = Math.min(earliest, await makeDue(tx, idle, key, event, sending, claims))
      }
    }
    tx.onCommit(() => {
      tail.publish(appended)
      for (const claim of claims) sending.begin(claim)
      if (earliest !== Number.POSITIVE_INFINITY) sending.due(earliest)
    })
    return appended
  }
}

async function makeDue(
  tx: Transaction,
  idle: Map<string, Candidate[]>,
  audience: string,
  event: LogEvent,
  sending: Sending,
  claims: EventClaim[],
): Promise<number> {
  let earliest = Number.POSITIVE_INFINITY
  const candidates = idle.get(audience) ?? (await tx.all(idleOf, { projectId: event.projectId, audience }))
  const left: Candidate[] = []
  for (const candidate of candidates) {
    if (!wakes(candidate, event)) {
      left.push(candidate)
      continue
    }
    const due = dueAt(candidate, JSON.parse(candidate.target) as WakeTarget, event.createdAt)
    const passedTo = event.logId - 1
    const owner = due <= tx.now ? sending.offer() : undefined
    const subscription = owner === undefined ? undefined : await claimIdle(tx, candidate.id, owner, passedTo)
    if (owner !== undefined && subscription) {
      claims.push({ subscription, owner, event })
      continue
    }
    await tx.run(setDue, { id: candidate.id, dueAt: due, passedTo })
    earliest = Math.min(earliest, due)
  }
  idle.set(audience, left)
  return earliest
}

function wakes(candidate: Candidate, event: LogEvent): boolean {
  if (candidate.kind === 'wake' && !isDeliverable(candidate.harnessTarget)) return false
  return matches({ ...candidate, filters: JSON.parse(candidate.filters) as Filters }, event)
}

/**
 * When the window that an event opens, or finds open, is over. Source: S1-39, D3.
 * `leading`: at once after a quiet spell, else when the window behind the last wake closes.
 */
export function dueAt(
  subscription: { coalesceMs: number; windowUntil: number },
  target: WakeTarget,
  createdAt: number,
): number {
  if (target.coalesceMode === 'leading') return Math.max(createdAt, subscription.windowUntil)
  return createdAt + subscription.coalesceMs
}

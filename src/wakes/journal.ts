import type { AppendEvents } from '../log/append.ts'
import type { LogEvent, Trigger } from '../log/event.ts'
import { insertEvents } from '../log/event-store.ts'
import type { LiveTail } from '../log/live-tail.ts'
import { type Filters, type HarnessTarget, isDeliverable, type WakeTarget } from '../registry/subscription.ts'
import type { Transaction } from '../storage/database.ts'
import { p, sql, statement } from '../storage/statement.ts'
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

/**
 * The one way into the log: appends events, and in the same transaction makes due the subscriptions that they
 * concern. `onDue` hears of the earliest due time after the commit.
 */
export function createJournal(tail: LiveTail, onDue: (dueAt: number) => void): AppendEvents {
  return async (tx, projectId, events) => {
    const appended = await insertEvents(tx, projectId, events)
    let earliest = Number.POSITIVE_INFINITY
    for (const [index, event] of appended.entries()) {
      const audience = events[index]!.audience
      for (const key of event.taskId === null ? audience : [...audience, event.taskId]) {
        earliest = Math.min(earliest, await makeDue(tx, key, event))
      }
    }
    tx.onCommit(() => {
      tail.publish(appended)
      if (earliest !== Number.POSITIVE_INFINITY) onDue(earliest)
    })
    return appended
  }
}

async function makeDue(tx: Transaction, audience: string, event: LogEvent): Promise<number> {
  let earliest = Number.POSITIVE_INFINITY
  for (const candidate of await tx.all(idleOf, { projectId: event.projectId, audience })) {
    if (candidate.kind === 'wake' && !isDeliverable(candidate.harnessTarget)) continue
    if (!matches({ ...candidate, filters: JSON.parse(candidate.filters) as Filters }, event)) continue
    const due = dueAt(candidate, JSON.parse(candidate.target) as WakeTarget, event.createdAt)
    await tx.run(setDue, { id: candidate.id, dueAt: due, passedTo: event.logId - 1 })
    earliest = Math.min(earliest, due)
  }
  return earliest
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

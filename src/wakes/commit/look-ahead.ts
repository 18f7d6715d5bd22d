import type { LogEvent } from '../../log/event.ts'
import { readWindows } from '../../log/event-store.ts'
import type { RecentEvents } from '../../log/recent-events.ts'
import type { Transaction } from '../../storage/database.ts'
import { hasMoreCached, readPending } from '../read/pending.ts'
import { triggerOf } from '../rules/match.ts'
import { dueAt, formOf } from '../rules/window.ts'
import type { Release } from '../store/lease-progress.ts'
import type { EventsByAudience } from './decide-wakes.ts'
import type { DeferredEnd } from './run-end.ts'

/** The log of one project, which the transaction has locked: no other transaction appends to it. */
export interface LockedLog {
  readonly recent: RecentEvents
  /** The newest logId before the events that this transaction appends. */
  readonly head: number
  readonly appended?: { readonly events: readonly LogEvent[]; readonly byAudience: EventsByAudience }
}

/** A run for which there is more. `events` come next, where they had to be read; `hasMore`: others may follow them. */
export interface ContinuingRun {
  readonly run: DeferredEnd
  readonly events: readonly LogEvent[] | undefined
  readonly hasMore: boolean
}

/** A run for which there is nothing more, or not yet. */
export interface ReleasedRun extends Release {
  readonly run: DeferredEnd
}

interface LookAhead {
  readonly continuing: readonly ContinuingRun[]
  readonly releases: readonly ReleasedRun[]
}

/** How many logIds one statement reads for each run: bounds what is read while the log is locked. */
const windowLogIds = 256

/**
 * Finds whether there is more for each of the runs of one project: in the cache; where that is not enough, with one statement
 * for all of them; and page by page for the few that are left.
 */
export async function lookAhead(tx: Transaction, runs: readonly DeferredEnd[], log: LockedLog): Promise<LookAhead> {
  const newest = log.head + (log.appended?.events.length ?? 0)
  const continuing: ContinuingRun[] = []
  const releases: ReleasedRun[] = []
  const unknown: DeferredEnd[] = []
  const slow: DeferredEnd[] = []
  for (const run of runs) {
    const hasMore = hasMoreInCache(run, log)
    if (hasMore === false) releases.push(releaseAt(run, null))
    else if (!sendsEach(run)) slow.push(run)
    else if (hasMore) continuing.push({ run, events: undefined, hasMore: false })
    else if (run.subscription.kind === 'wake') unknown.push(run)
    else slow.push(run)
  }
  for (const { run, events } of await readTogether(tx, unknown)) {
    const hasMore = endOfWindow(run) < newest
    if (events.length > 0) continuing.push({ run, events, hasMore })
    else if (!hasMore) releases.push(releaseAt(run, null))
    else slow.push(run)
  }
  for (const release of await Promise.all(slow.map((run) => readToNext(tx, run)))) {
    const { run, dueAt } = release
    if (dueAt !== null && sendsEach(run)) continuing.push({ run, events: undefined, hasMore: true })
    else releases.push(release)
  }
  return { continuing, releases }
}

export function releaseAt(
  run: DeferredEnd,
  dueAt: number | null,
  cursorLogId = run.lease.progress.cursorLogId,
): ReleasedRun {
  const { subscriptionId, owner, progress } = run.lease
  return { run, subscriptionId, owner, progress: { ...progress, cursorLogId }, dueAt }
}

const sendsEach = ({ subscription }: DeferredEnd): boolean => formOf(subscription) === 'each'
const endOfWindow = ({ lease }: DeferredEnd): number => lease.progress.cursorLogId + windowLogIds

/** True when an event has come that may be for the run. Undefined: the cache does not reach back to its cursor. */
function hasMoreInCache({ subscription, lease }: DeferredEnd, { recent, appended }: LockedLog): boolean | undefined {
  const { kind, audience } = subscription
  const trigger = triggerOf(subscription)
  const cached = hasMoreCached(recent, subscription, lease.progress.cursorLogId)
  if (cached !== false || !appended) return cached
  // The cache gets the events of this transaction when it commits.
  const isForRun = (index: number): boolean => kind === 'push' || appended.events[index]!.trigger === trigger
  return appended.byAudience.get(audience)?.some(isForRun) ?? false
}

/** Reads the next window of the log for many runs, in one statement. */
async function readTogether(
  tx: Transaction,
  runs: readonly DeferredEnd[],
): Promise<{ readonly run: DeferredEnd; readonly events: readonly LogEvent[] }[]> {
  const windows = runs.map((run) => {
    const { projectId, audience } = run.subscription
    const trigger = triggerOf(run.subscription) ?? ''
    return { projectId, audience, trigger, after: run.lease.progress.cursorLogId, upTo: endOfWindow(run) }
  })
  const events = await readWindows(tx, windows)
  return runs.map((run, index) => ({ run, events: events[index]! }))
}

/** Reads the log for one run, up to the first event that it has to send, or to the end. */
async function readToNext(tx: Transaction, run: DeferredEnd): Promise<ReleasedRun> {
  const { subscription, lease } = run
  let { cursorLogId: after } = lease.progress
  for (let more = true; more; ) {
    const page = await readPending(tx, subscription, after)
    const [first] = page.events
    if (first) {
      const { windowUntil } = lease.progress
      const due = dueAt({ ...subscription, windowUntil }, first.createdAt, tx.now)
      return releaseAt(run, due, after)
    }
    after = page.scannedTo
    more = page.more
  }
  return releaseAt(run, null, after)
}

import type { LogEvent } from '../../log/event.ts'
import { readWindows } from '../../log/event-store.ts'
import type { RecentEvents } from '../../log/recent-events.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Pipelined, Transaction } from '../../storage/database.ts'
import { pipelined } from '../../storage/pipelined.ts'
import { hasMoreCached, readPending } from '../read/pending.ts'
import { triggerOf } from '../rules/match.ts'
import { dueAt, formOf } from '../rules/window.ts'
import { advanceCursors, isHeldLong, type Lease, type Release, releaseLeases } from '../store/lease-store.ts'
import { closeIfFinished } from './close-push.ts'
import type { EventsByAudience, Scheduler } from './schedule.ts'

/** What comes behind the end of a run. */
export type RunEnd =
  /** More to send, under the same lease: these events of its audience, where they had to be read. `hasMore`: others follow them. */
  | { readonly continues: true; readonly next: readonly LogEvent[] | undefined; readonly hasMore: boolean }
  /** Its subscription falls due again then, if it does by itself. */
  | { readonly continues: false; readonly dueAt: number | undefined }

/** A run at its end. */
export interface EndingRun {
  readonly subscription: Subscription
  readonly lease: Lease
  /** Hears of it within the transaction; if that comes to nothing, so does what was told. */
  resolve(releaseRuns: RunEnd): void
}

/** Events that this transaction itself appends. */
interface JustWritten {
  readonly written: readonly LogEvent[]
  readonly byAudience: EventsByAudience
}

const nothingWritten: JustWritten = { written: [], byAudience: new Map() }

/** How many logIds are looked at together for one run: bounds what is read of a log while it is held. */
const windowLogIds = 256

/**
 * Gives back the leases of one project, within a transaction that holds its log, behind everything that this transaction writes
 * there. `head` is the newest logId before that.
 */
export async function endRuns(
  tx: Transaction,
  endings: readonly EndingRun[],
  head: number,
  recent: RecentEvents,
  sending: Pick<Scheduler, 'hasPeers' | 'notifyYielded'>,
  fresh = nothingWritten,
): Promise<Pipelined> {
  if (endings.length === 0) return pipelined()
  const { projectId } = endings[0]!.subscription
  // Others have appended too: what is at hand would have a run believe that there is nothing more.
  if (recent.head(projectId) !== head) recent.forget([projectId])
  const newest = head + fresh.written.length
  const continuing: ContinuingRun[] = []
  const releases: ReleasedRun[] = []
  const unknown: EndingRun[] = []
  const slow: EndingRun[] = []
  for (const ending of endings) {
    const hasNews = isNews(ending, recent, fresh)
    if (hasNews === false) releases.push(releaseAt(ending, null))
    else if (hasNews && sendsEach(ending)) continuing.push({ ending, next: undefined, hasMore: false })
    else if (hasNews === undefined && sendsEach(ending) && ending.subscription.kind === 'wake') unknown.push(ending)
    else slow.push(ending)
  }
  for (const { ending, next } of await readAhead(tx, unknown)) {
    const hasMore = endOfWindow(ending) < newest
    if (next.length > 0) continuing.push({ ending, next, hasMore })
    else if (!hasMore) releases.push(releaseAt(ending, null))
    else slow.push(ending)
  }
  for (const release of await Promise.all(slow.map((ending) => readNext(tx, ending)))) {
    if (release.dueAt !== null && sendsEach(release.ending))
      continuing.push({ ending: release.ending, next: undefined, hasMore: true })
    else releases.push(release)
  }
  const [kept, passedOn] = share(continuing, tx.now, sending)
  if (passedOn.length > 0) tx.onCommit(() => sending.notifyYielded())
  const last = pipelined(releaseRuns(tx, releases), continueRuns(tx, kept), yieldLeases(tx, passedOn))
  // A push subscription is looked at once more.
  if (releases.some(({ ending }) => ending.subscription.kind === 'push')) await last.answered
  return last
}

/** A lease that ends. */
interface ReleasedRun extends Release {
  readonly ending: EndingRun
}

const sendsEach = ({ subscription }: EndingRun): boolean => formOf(subscription) === 'each'
const endOfWindow = ({ lease }: EndingRun): number => lease.progress.cursorLogId + windowLogIds

/** Whether anything that may be for the run has come, by what is at hand: undefined where that does not tell. */
function isNews(
  { subscription, lease }: EndingRun,
  recent: RecentEvents,
  { written, byAudience }: JustWritten,
): boolean | undefined {
  const { kind, audience } = subscription
  const trigger = triggerOf(subscription)
  const known = hasMoreCached(recent, subscription, lease.progress.cursorLogId)
  if (known === undefined) return undefined
  const isOurs = (index: number): boolean => kind === 'push' || written[index]!.trigger === trigger
  return known || (byAudience.get(audience)?.some(isOurs) ?? false)
}

/** A lease that goes on, with the events that come next, where they had to be read. */
interface ContinuingRun {
  readonly ending: EndingRun
  readonly next: readonly LogEvent[] | undefined
  readonly hasMore: boolean
}

/** Reads on for many runs together. */
async function readAhead(
  tx: Transaction,
  endings: readonly EndingRun[],
): Promise<{ readonly ending: EndingRun; readonly next: readonly LogEvent[] }[]> {
  const windows = endings.map((ending) => {
    const { projectId, audience } = ending.subscription
    const { cursorLogId } = ending.lease.progress
    return {
      projectId,
      audience,
      trigger: triggerOf(ending.subscription) ?? '',
      after: cursorLogId,
      upTo: endOfWindow(ending),
    }
  })
  const events = await readWindows(tx, windows)
  return endings.map((ending, index) => ({ ending, next: events[index]! }))
}

/** Reads on for one run, to the first event that it is to send, or to the end. */
async function readNext(tx: Transaction, ending: EndingRun): Promise<ReleasedRun> {
  const { subscription, lease } = ending
  let { cursorLogId: after } = lease.progress
  for (let more = true; more; ) {
    const page = await readPending(tx, subscription, after)
    const first = page.events[0]
    if (first) {
      const { windowUntil } = lease.progress
      const due = dueAt({ ...subscription, windowUntil }, first.createdAt, tx.now)
      return releaseAt(ending, due, after)
    }
    after = page.scannedTo
    more = page.more
  }
  return releaseAt(ending, null, after)
}

function releaseAt(
  ending: EndingRun,
  dueAt: number | null,
  cursorLogId = ending.lease.progress.cursorLogId,
): ReleasedRun {
  const { subscriptionId, owner, progress } = ending.lease
  return { ending, subscriptionId, owner, progress: { ...progress, cursorLogId }, dueAt }
}

async function continueRuns(tx: Transaction, continuing: readonly ContinuingRun[]): Promise<void> {
  const held = await advanceCursors(
    tx,
    continuing.map(({ ending }) => ending.lease),
  )
  for (const { ending, next, hasMore } of continuing) {
    const { lease } = ending
    if (!held.has(lease))
      tx.onCommit(() => {
        lease.lost = true
      })
    ending.resolve({ continues: true, next, hasMore })
  }
}

/** What this gateway goes on with, and what it has sent for long enough. */
function share(continuing: readonly ContinuingRun[], now: number, { hasPeers }: Pick<Scheduler, 'hasPeers'>) {
  const kept: ContinuingRun[] = []
  const passedOn: EndingRun[] = []
  for (const one of continuing) {
    if (isHeldLong(one.ending.lease, now) && hasPeers()) passedOn.push(one.ending)
    else kept.push(one)
  }
  return [kept, passedOn] as const
}

async function yieldLeases(tx: Transaction, endings: readonly EndingRun[]): Promise<void> {
  await releaseLeases(
    tx,
    endings.map((ending) => releaseAt(ending, tx.now)),
  )
  for (const { resolve } of endings) resolve({ continues: false, dueAt: undefined })
}

async function releaseRuns(tx: Transaction, releases: readonly ReleasedRun[]): Promise<void> {
  const released = await releaseLeases(tx, releases)
  const telling = releases.map(async ({ ending, subscriptionId, progress }) => {
    const due = released.get(subscriptionId)
    if (due === null) await closeIfFinished(tx, ending.subscription, progress.lastEmittedLogId)
    ending.resolve({ continues: false, dueAt: due ?? undefined })
  })
  await Promise.all(telling)
}

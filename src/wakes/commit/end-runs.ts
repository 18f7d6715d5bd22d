import type { LogEvent } from '../../log/event.ts'
import { readWindows } from '../../log/event-store.ts'
import type { RecentLog } from '../../log/recent-events.ts'
import type { Subscription, WakeTarget } from '../../registry/subscriptions/subscription.ts'
import type { Asked, Transaction } from '../../storage/database.ts'
import { asked } from '../../storage/pipelined.ts'
import { hasMore, readPending } from '../read/pending.ts'
import { dueAt, formOf } from '../rules/window.ts'
import { advanceCursors, type Claim, isKeptLong, type Release, releaseLeases } from '../store/lease-store.ts'
import { closeIfFinished } from './close-push.ts'
import type { Concerned, Sending } from './schedule.ts'

/** What comes behind the end of a run. */
export type End =
  /** More to send, under the same claim: these events of its audience, where they had to be read. `behind`: they are not the last. */
  | { readonly goesOn: true; readonly next: readonly LogEvent[] | undefined; readonly behind: boolean }
  /** Its subscription falls due again then, if it does by itself. */
  | { readonly goesOn: false; readonly dueAt: number | undefined }

/** A run at its end. */
export interface Ending {
  readonly subscription: Subscription
  readonly claim: Claim
  /** Hears of it within the transaction; if that comes to nothing, so does what was told. */
  told(end: End): void
}

/** Events that this transaction itself appends. */
interface Fresh {
  readonly written: readonly LogEvent[]
  readonly concerned: Concerned
}

const nothingFresh: Fresh = { written: [], concerned: new Map() }

/** How many logIds are looked at together for one run: bounds what is read of a log while it is held. */
const windowLogIds = 256

/**
 * Gives back the claims of one project, within a transaction that holds its log, behind everything that this transaction writes
 * there. `head` is the newest logId before that.
 */
export async function giveBack(
  tx: Transaction,
  endings: readonly Ending[],
  head: number,
  recent: RecentLog,
  sending: Pick<Sending, 'hasOthers' | 'passedOn'>,
  fresh = nothingFresh,
): Promise<Asked> {
  if (endings.length === 0) return asked()
  const { projectId } = endings[0]!.subscription
  // Others have appended too: what is at hand would have a run believe that there is nothing more.
  if (recent.head(projectId) !== head) recent.forget([projectId])
  const newest = head + fresh.written.length
  const goingOn: GoingOn[] = []
  const releases: Released[] = []
  const unknown: Ending[] = []
  const slow: Ending[] = []
  for (const ending of endings) {
    const hasNews = isNews(ending, recent, fresh)
    if (hasNews === false) releases.push(releaseAt(ending, null))
    else if (hasNews && sendsEach(ending)) goingOn.push({ ending, next: undefined, behind: false })
    else if (hasNews === undefined && sendsEach(ending) && ending.subscription.kind === 'wake') unknown.push(ending)
    else slow.push(ending)
  }
  for (const { ending, next } of await readAhead(tx, unknown)) {
    const behind = endOfWindow(ending) < newest
    if (next.length > 0) goingOn.push({ ending, next, behind })
    else if (!behind) releases.push(releaseAt(ending, null))
    else slow.push(ending)
  }
  for (const release of await Promise.all(slow.map((ending) => lookOn(tx, ending)))) {
    if (release.dueAt !== null && sendsEach(release.ending))
      goingOn.push({ ending: release.ending, next: undefined, behind: true })
    else releases.push(release)
  }
  const [kept, passedOn] = share(goingOn, tx.now, sending)
  if (passedOn.length > 0) tx.onCommit(() => sending.passedOn())
  const last = asked(end(tx, releases), keepGoing(tx, kept), passOn(tx, passedOn))
  // A push subscription is looked at once more.
  if (releases.some(({ ending }) => ending.subscription.kind === 'push')) await last.answered
  return last
}

/** A claim that ends. */
interface Released extends Release {
  readonly ending: Ending
}

const sendsEach = ({ subscription }: Ending): boolean => formOf(subscription) === 'each'
const endOfWindow = ({ claim }: Ending): number => claim.progress.cursorLogId + windowLogIds

/** Whether anything that may be for the run has come, by what is at hand: undefined where that does not tell. */
function isNews(
  { subscription, claim }: Ending,
  recent: RecentLog,
  { written, concerned }: Fresh,
): boolean | undefined {
  const { kind, audience, trigger } = subscription
  const known = hasMore(recent, subscription, claim.progress.cursorLogId)
  if (known === undefined) return undefined
  const isOurs = (index: number): boolean => kind === 'push' || written[index]!.trigger === trigger
  return known || (concerned.get(audience)?.some(isOurs) ?? false)
}

/** A claim that goes on, with the events that come next, where they had to be read. */
interface GoingOn {
  readonly ending: Ending
  readonly next: readonly LogEvent[] | undefined
  readonly behind: boolean
}

/** Reads on for many runs together. */
async function readAhead(
  tx: Transaction,
  endings: readonly Ending[],
): Promise<{ readonly ending: Ending; readonly next: readonly LogEvent[] }[]> {
  const windows = endings.map((ending) => {
    const { projectId, audience, trigger } = ending.subscription
    const { cursorLogId } = ending.claim.progress
    return { projectId, audience, trigger: trigger ?? '', after: cursorLogId, upTo: endOfWindow(ending) }
  })
  const events = await readWindows(tx, windows)
  return endings.map((ending, index) => ({ ending, next: events[index]! }))
}

/** Reads on for one run, to the first event that it is to send, or to the end. */
async function lookOn(tx: Transaction, ending: Ending): Promise<Released> {
  const { subscription, claim } = ending
  let { cursorLogId: after } = claim.progress
  for (let more = true; more; ) {
    const page = await readPending(tx, subscription, after)
    const first = page.events[0]
    if (first) {
      const { coalesceMs, target } = subscription
      const { windowUntil } = claim.progress
      const due = dueAt({ coalesceMs, windowUntil }, target as WakeTarget, first.createdAt, tx.now)
      return releaseAt(ending, due, after)
    }
    after = page.scannedTo
    more = page.more
  }
  return releaseAt(ending, null, after)
}

function releaseAt(ending: Ending, dueAt: number | null, cursorLogId = ending.claim.progress.cursorLogId): Released {
  const { subscriptionId, owner, progress } = ending.claim
  return { ending, subscriptionId, owner, progress: { ...progress, cursorLogId }, dueAt }
}

async function keepGoing(tx: Transaction, goingOn: readonly GoingOn[]): Promise<void> {
  const held = await advanceCursors(
    tx,
    goingOn.map(({ ending }) => ending.claim),
  )
  for (const { ending, next, behind } of goingOn) {
    const { claim } = ending
    if (!held.has(claim))
      tx.onCommit(() => {
        claim.lost = true
      })
    ending.told({ goesOn: true, next, behind })
  }
}

/** What this gateway goes on with, and what it has sent for long enough. */
function share(goingOn: readonly GoingOn[], now: number, { hasOthers }: Pick<Sending, 'hasOthers'>) {
  const kept: GoingOn[] = []
  const passedOn: Ending[] = []
  for (const one of goingOn) {
    if (isKeptLong(one.ending.claim, now) && hasOthers()) passedOn.push(one.ending)
    else kept.push(one)
  }
  return [kept, passedOn] as const
}

async function passOn(tx: Transaction, endings: readonly Ending[]): Promise<void> {
  await releaseLeases(
    tx,
    endings.map((ending) => releaseAt(ending, tx.now)),
  )
  for (const { told } of endings) told({ goesOn: false, dueAt: undefined })
}

async function end(tx: Transaction, releases: readonly Released[]): Promise<void> {
  const released = await releaseLeases(tx, releases)
  const telling = releases.map(async ({ ending, subscriptionId, progress }) => {
    const due = released.get(subscriptionId)
    if (due === null) await closeIfFinished(tx, ending.subscription, progress.lastEmittedLogId)
    ending.told({ goesOn: false, dueAt: due ?? undefined })
  })
  await Promise.all(telling)
}

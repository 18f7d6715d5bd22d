import { holdLog } from '../log/event-store.ts'
import type { Subscription, WakeTarget } from '../registry/subscription.ts'
import type { Transaction } from '../storage/database.ts'
import { closeIfFinished } from './close-push.ts'
import { dueAt } from './journal.ts'
import { releaseLease } from './lease-store.ts'
import { readPending } from './pending.ts'
import type { Claim } from './recorder.ts'

/** A run at its end. */
interface GivingBack {
  readonly projectId: string
  giveBack(tx: Transaction): Promise<void>
}

/** At the end of the transaction, while nobody else appends: whoever does so later finds the subscriptions idle, and makes them due. */
export async function giveAllBack(tx: Transaction, runs: readonly GivingBack[]): Promise<void> {
  const projects = [...new Set(runs.map((run) => run.projectId))].sort()
  // Asked for in this order, and so done in it: the reads are behind the locks.
  await Promise.all([...projects.map((projectId) => holdLog(tx, projectId)), ...runs.map((run) => run.giveBack(tx))])
}

/** Gives one claim's lease back. Answers the time at which the next matching event's window ends, if there is one. */
export async function giveBackClaim(
  tx: Transaction,
  subscription: Subscription,
  claim: Claim,
): Promise<number | undefined> {
  let { cursorLogId: after } = claim.progress
  let due: number | null = null
  for (let more = true; more && due === null; ) {
    const page = await readPending(tx, subscription, after)
    const first = page.events[0]
    if (first) {
      const { coalesceMs, target } = subscription
      const { windowUntil } = claim.progress
      due = dueAt({ coalesceMs, windowUntil }, target as WakeTarget, first.createdAt, tx.now)
    } else after = page.scannedTo
    more = page.more
  }
  const progress = { ...claim.progress, cursorLogId: after }
  const dueNext = await releaseLease(tx, subscription.id, claim.owner, progress, due)
  if (dueNext === null) await closeIfFinished(tx, subscription, progress.lastEmittedLogId)
  return dueNext ?? undefined
}

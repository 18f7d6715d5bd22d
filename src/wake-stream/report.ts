import { type Caller, operates } from '../registry/callers/caller.ts'
import { lockSubscription } from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import { afterReceipt } from '../wakes/rules/after-receipt.ts'
import { meaningOf, type ReceiptStep } from '../wakes/rules/receipts.ts'
import type { WakeStep } from '../wakes/rules/wake-history.ts'
import { makeDueNow } from '../wakes/store/due-store.ts'
import { findReported, type ReportedDelivery, saveReceipt } from '../wakes/store/receipt-store.ts'
import type { WakeStreamContext } from './context.ts'
import { noted, receiptOf, sayingOf } from './receipt-history.ts'
import type { Receipt, WakeStream } from './wake-stream.ts'

/** What a reader says about one wake. */
export interface ReceiptInput {
  readonly eventId: string
  readonly step: ReceiptStep
  readonly detail?: string | undefined
  /** What proved it, in the words of the reader. */
  readonly source?: string | undefined
  /** Of `written`: nothing more will be known. */
  readonly isFinal?: boolean | undefined
}

/** What the gateway has on record of a wake after a receipt; `unknown`: it has no such wake of the caller. */
export interface RecordedReceipt {
  readonly eventId: string
  readonly outcome: 'pending' | 'delivered' | 'written' | 'failed' | 'rejected' | 'unknown'
}

/**
 * Records receipts in one transaction, and then notifies the runs that wait for them. From `delivered` on the cursor passes the wake; after
 * `failed` the wake is sent again, like a failed webhook. Several receipts for one wake are one write. Source: S1-34, D31.
 */
export async function reportReceipts(
  context: WakeStreamContext,
  caller: Caller,
  receipts: readonly ReceiptInput[],
): Promise<RecordedReceipt[]> {
  const indexes = new Map<string, number[]>()
  for (const [index, { eventId }] of receipts.entries()) {
    const known = indexes.get(eventId)
    if (known) known.push(index)
    else indexes.set(eventId, [index])
  }
  return context.db.transaction(async (tx) => {
    const recorded: RecordedReceipt[] = []
    for (const [eventId, ofWake] of indexes) {
      const said = ofWake.map((index) => receipts[index]!)
      const outcomes = await recordAll(context, tx, caller, eventId, said)
      for (const [at, index] of ofWake.entries()) recorded[index] = { eventId, outcome: outcomes[at]! }
    }
    return recorded
  })
}

/** Records what is said of one wake, in order. Returns its outcome after each receipt. */
async function recordAll(
  context: WakeStreamContext,
  tx: Transaction,
  caller: Caller,
  eventId: string,
  receipts: readonly ReceiptInput[],
): Promise<RecordedReceipt['outcome'][]> {
  const { random, streams, onStep } = context
  const stream = streams.withOpen(caller.id, eventId)
  const found = await findOwn(tx, caller, eventId, stream)
  if (!found) {
    return receipts.map((said) =>
      reportTest(streams.withOpen(caller.id, eventId), eventId, sayingOf(caller.identity, said, tx.now), said.isFinal),
    )
  }
  const outcomes: RecordedReceipt['outcome'][] = []
  let known = found
  for (const receipt of receipts) {
    const after = afterReceipt(known, receipt, { now: tx.now, retryForSeconds: found.retryForSeconds, random })
    const { history, news } = noted(known, after, sayingOf(caller.identity, receipt, tx.now))
    if (news) await onStep(tx, news)
    const decided = receiptOf(known, after)
    if (decided) await tell(context, tx, known, decided)
    known = { ...known, ...after, history, updatedAt: tx.now }
    outcomes.push(after.outcome)
  }
  await saveReceipt(tx, found, known, known.history)
  return outcomes
}

/** Its run may be on another gateway, or between two leases: it finds out in the store. */
async function tell(
  { streams, changed }: WakeStreamContext,
  tx: Transaction,
  { subscriptionId, eventId }: ReportedDelivery,
  receipt: Receipt,
): Promise<void> {
  if (receipt.outcome !== 'retry') await makeDueNow(tx, subscriptionId)
  tx.onCommit(() => streams.of(subscriptionId)?.report(eventId, receipt) || changed(subscriptionId))
}

/** Of two receipts for a wake at the same time, the second waits for the first. */
async function findOwn(
  tx: Transaction,
  caller: Caller,
  eventId: string,
  stream: WakeStream | undefined,
): Promise<ReportedDelivery | undefined> {
  const where = { agentId: caller.id, subscriptionIds: [...(stream?.subscriptionIds ?? [])] }
  const known = await findReported(tx, eventId, where)
  if (!known || !isOwn(caller, known)) return undefined
  await lockSubscription(tx, known.subscriptionId)
  return findReported(tx, eventId, where)
}

function isOwn(caller: Caller, { agentId, projectId }: ReportedDelivery): boolean {
  return projectId === caller.projectId && (agentId === caller.id || operates(caller, projectId))
}

/** A test wake has no record: its receipt goes to the call that waits for it. */
function reportTest(
  stream: WakeStream | undefined,
  eventId: string,
  said: WakeStep,
  isFinal = false,
): RecordedReceipt['outcome'] {
  if (!stream) return 'unknown'
  const outcome = outcomeOf(said.step, isFinal)
  stream.hear(eventId, said, outcome)
  return outcome
}

function outcomeOf(step: ReceiptStep, isFinal: boolean): 'pending' | 'written' | 'delivered' | 'failed' {
  const meaning = meaningOf(step)
  if (meaning === 'open') return isFinal ? 'written' : 'pending'
  return meaning === 'delivered' ? 'delivered' : 'failed'
}

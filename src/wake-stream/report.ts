import { type Caller, operates } from '../registry/callers/caller.ts'
import { lockSubscriptions } from '../registry/subscriptions/subscription-store.ts'
import type { Reader, Transaction } from '../storage/database.ts'
import { afterReceipt } from '../wakes/rules/after-receipt.ts'
import { makeDueNow } from '../wakes/store/due-store.ts'
import { findReported, type ReportedDelivery, saveReceipt } from '../wakes/store/receipt-store.ts'
import { meaningOf, type ReceiptStep } from '../words/receipts.ts'
import type { WakeStreamContext } from './context.ts'
import { noted, receiptOf, sayingOf } from './receipt-history.ts'
import type { Receipt, WakeStream } from './wake-stream.ts'

/** The report of a reader about one wake. */
export interface ReceiptInput {
  readonly eventId: string
  readonly step: ReceiptStep
  readonly detail?: string | undefined
  /** The proof, in the words of the reader. */
  readonly source?: string | undefined
  /** Of `written`: nothing more will be known. */
  readonly isFinal?: boolean | undefined
}

/** The record of the gateway for a wake after a receipt; `unknown`: it has no such wake of the caller. */
export interface RecordedReceipt {
  readonly eventId: string
  readonly outcome: 'pending' | 'delivered' | 'written' | 'failed' | 'rejected' | 'unknown'
}

/**
 * Records receipts in one transaction, if they name a wake of the caller, and then notifies the runs that wait for them. From `delivered` on the cursor passes the wake; after
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
  const outcomes = await recordKnown(context, caller, indexes, receipts)
  const recorded: RecordedReceipt[] = []
  for (const [eventId, ofWake] of indexes) {
    const known = outcomes.get(eventId)
    for (const [at, index] of ofWake.entries()) {
      const outcome = known ? known[at]! : reportTest(context, caller, receipts[index]!)
      recorded[index] = { eventId, outcome }
    }
  }
  return recorded
}

type Outcome = RecordedReceipt['outcome']

/**
 * Records what is reported of wakes of the caller that are on record. Returns their outcomes after each receipt, by event id. All are looked
 * up before the transaction: a report that names none of them writes nothing, and no writer waits for it.
 */
async function recordKnown(
  context: WakeStreamContext,
  caller: Caller,
  indexes: ReadonlyMap<string, readonly number[]>,
  receipts: readonly ReceiptInput[],
): Promise<ReadonlyMap<string, readonly Outcome[]>> {
  const seen = await findOwn(context, context.db, caller, [...indexes.keys()])
  if (seen.size === 0) return new Map()
  return context.db.transaction(async (tx) => {
    // Of two receipts for a wake at the same time, the second waits for the first.
    await lockSubscriptions(
      tx,
      [...seen.values()].map(({ subscriptionId }) => subscriptionId),
    )
    const outcomes = new Map<string, Outcome[]>()
    for (const [eventId, found] of await findOwn(context, tx, caller, [...seen.keys()])) {
      const said = indexes.get(eventId)!.map((index) => receipts[index]!)
      outcomes.set(eventId, await recordAll(context, tx, caller, found, said))
    }
    return outcomes
  })
}

/** Records the receipts of one wake, in order. Returns its outcome after each receipt. */
async function recordAll(
  context: WakeStreamContext,
  tx: Transaction,
  caller: Caller,
  found: ReportedDelivery,
  receipts: readonly ReceiptInput[],
): Promise<Outcome[]> {
  const { random, onStep } = context
  const outcomes: Outcome[] = []
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

/** Returns the wakes of these ids that the caller may report about, by id, in the order of the ids. */
async function findOwn(
  { streams }: WakeStreamContext,
  db: Reader,
  caller: Caller,
  eventIds: readonly string[],
): Promise<Map<string, ReportedDelivery>> {
  const found = await findReported(db, eventIds)
  const own = new Map<string, ReportedDelivery>()
  for (const eventId of eventIds) {
    const one = found.get(eventId)
    if (one && isOwn(caller, one, streams.withOpen(caller.id, eventId))) own.set(eventId, one)
  }
  return own
}

/** An operator reports about what is kept, or what its own stream was sent; an agent about everything of its own. */
function isOwn(
  caller: Caller,
  { agentId, projectId, subscriptionId, isKept }: ReportedDelivery,
  stream: WakeStream | undefined,
): boolean {
  if (projectId !== caller.projectId) return false
  if (agentId === caller.id) return true
  return operates(caller, projectId) && (isKept || stream?.subscriptionIds.has(subscriptionId) === true)
}

/** A test wake has no record: its receipt goes to the call that waits for it. */
function reportTest({ streams, clock }: WakeStreamContext, caller: Caller, receipt: ReceiptInput): Outcome {
  const { eventId, step, isFinal = false } = receipt
  const stream = streams.withOpen(caller.id, eventId)
  if (!stream) return 'unknown'
  const outcome = outcomeOf(step, isFinal)
  stream.hear(eventId, sayingOf(caller.identity, receipt, clock.now()), outcome)
  return outcome
}

function outcomeOf(step: ReceiptStep, isFinal: boolean): 'pending' | 'written' | 'delivered' | 'failed' {
  const meaning = meaningOf(step)
  if (meaning === 'open') return isFinal ? 'written' : 'pending'
  return meaning === 'delivered' ? 'delivered' : 'failed'
}

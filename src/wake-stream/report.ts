import { type Caller, operates } from '../registry/callers/caller.ts'
import { lockSubscription } from '../registry/subscriptions/subscription-store.ts'
import type { Transaction } from '../storage/database.ts'
import { afterReceipt, type DeliveryAfter } from '../wakes/rules/after-receipt.ts'
import { meaningOf, type ReceiptStep } from '../wakes/rules/receipts.ts'
import { isTold } from '../wakes/rules/told-steps.ts'
import { stepsAfter, type WakeStep } from '../wakes/rules/wake-history.ts'
import { makeDueNow } from '../wakes/store/due-store.ts'
import { findReported, type ReportedDelivery, saveReceipt } from '../wakes/store/receipt-store.ts'
import type { WakeStreamContext } from './context.ts'
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
 * Records receipts, in one transaction, and then tells the runs that wait for them. From `delivered` on the cursor passes the wake;
 * `failed` has it sent again as a webhook that fails would be. Source: S1-34, D31.
 */
export async function reportReceipts(
  context: WakeStreamContext,
  caller: Caller,
  receipts: readonly ReceiptInput[],
): Promise<RecordedReceipt[]> {
  return context.db.transaction(async (tx) => {
    const recorded: RecordedReceipt[] = []
    for (const receipt of receipts) recorded.push(await record(context, tx, caller, receipt))
    return recorded
  })
}

async function record(
  { random, streams, changed, onStep }: WakeStreamContext,
  tx: Transaction,
  caller: Caller,
  { eventId, ...reported }: ReceiptInput,
): Promise<RecordedReceipt> {
  const stream = streams.withOpen(caller.id, eventId)
  const found = await findOwn(tx, caller, eventId, stream)
  if (!found)
    return { eventId, outcome: reportTest(stream, eventId, sayingOf(caller, reported, tx.now), reported.isFinal) }
  const context = { now: tx.now, retryForSeconds: found.retryForSeconds, random }
  const after = afterReceipt(found, reported, context)
  await note(onStep, tx, found, after, sayingOf(caller, reported, tx.now))
  const receipt = receiptOf(found, after)
  if (receipt) {
    // Its run may be on another gateway, or between two leases: it finds out in the store.
    const { subscriptionId } = found
    if (after.outcome !== 'pending') await makeDueNow(tx, subscriptionId)
    tx.onCommit(() => streams.of(subscriptionId)?.report(eventId, receipt) || changed(subscriptionId))
  }
  return { eventId, outcome: after.outcome }
}

function sayingOf(
  { identity }: Caller,
  { step, source, detail }: Omit<ReceiptInput, 'eventId'>,
  now: number,
): WakeStep {
  const at = new Date(now).toISOString()
  return { step, source: source ?? null, reportedBy: identity, at, detail: detail ?? null }
}

/** Records what was said. What is stronger than all before it is put down to the mail of the wake, and its senders are told once. */
async function note(
  onStep: WakeStreamContext['onStep'],
  tx: Transaction,
  found: ReportedDelivery,
  after: DeliveryAfter,
  said: WakeStep,
): Promise<void> {
  const { eventId, audience, history } = found
  const { messageIds, told } = history
  const isNews = after.step === said.step && (after.step !== found.step || after.outcome !== found.outcome)
  const tells = isNews && isTold(said.step, after.outcome) && !told.includes(said.step)
  await saveReceipt(tx, found, after, {
    messageIds,
    steps: stepsAfter(history.steps, said, after.step),
    told: tells ? [...told, said.step] : told,
  })
  if (isNews && messageIds.length > 0) {
    await onStep(tx, { eventId, audience, messageIds, said, outcome: after.outcome, isTold: tells })
  }
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

/** Undefined: nothing was decided. */
function receiptOf(
  before: Pick<ReportedDelivery, 'outcome' | 'attempts'>,
  after: Pick<ReportedDelivery, 'outcome' | 'attempts'>,
): Receipt | undefined {
  if (before.outcome !== 'pending' || after.attempts === before.attempts) return undefined
  if (after.outcome === 'pending') return { outcome: 'retry' }
  return { outcome: after.outcome === 'delivered' || after.outcome === 'written' ? after.outcome : 'failed' }
}

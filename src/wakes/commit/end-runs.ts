import type { LogEvent } from '../../log/event.ts'
import { readTaskEvents } from '../../log/event-store.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { PipelinedStatements, Transaction } from '../../storage/database.ts'
import { pipelined } from '../../storage/pipelined.ts'
import { isTerminal, type TaskState } from '../../words/task-states.ts'
import { advanceCursors, releaseLeases } from '../store/lease-progress.ts'
import { finishPush } from '../store/subscription-state.ts'
import { type ContinuingRun, type LockedLog, lookAhead, type ReleasedRun, releaseAt } from './look-ahead.ts'
import type { DeferredEnd } from './run-end.ts'
import type { Scheduler } from './schedule.ts'

/** Ends runs of one project, in a transaction that has locked its log, after all that the transaction writes there. */
export async function endRuns(
  tx: Transaction,
  runs: readonly DeferredEnd[],
  log: LockedLog,
  scheduler: Pick<Scheduler, 'hasPeers' | 'notifyYielded'>,
): Promise<PipelinedStatements> {
  if (runs.length === 0) return pipelined()
  const { projectId } = runs[0]!.subscription
  // Others have appended too, and the cache ends before them: a run would find nothing more in it.
  if (log.recent.head(projectId) !== log.head) log.recent.forget([projectId])
  const { continuing, releases } = await lookAhead(tx, runs, log)
  const [kept, yielded] = share(continuing, tx.now, scheduler)
  if (yielded.length > 0) tx.onCommit(() => scheduler.notifyYielded())
  const last = pipelined(releaseRuns(tx, releases), continueRuns(tx, kept), yieldRuns(tx, yielded))
  // After the release of a push subscription the log is read once more.
  if (releases.some(({ run }) => run.subscription.kind === 'push')) await last.answered
  return last
}

/** Splits runs into those that this gateway continues, and those that it has had long enough and yields to other gateways. */
function share(
  continuing: readonly ContinuingRun[],
  now: number,
  { hasPeers }: Pick<Scheduler, 'hasPeers'>,
): readonly [ContinuingRun[], DeferredEnd[]] {
  const kept: ContinuingRun[] = []
  const yielded: DeferredEnd[] = []
  for (const one of continuing) {
    if (one.run.lease.isDueToYield(now) && hasPeers()) yielded.push(one.run)
    else kept.push(one)
  }
  return [kept, yielded]
}

async function continueRuns(tx: Transaction, continuing: readonly ContinuingRun[]): Promise<void> {
  const leases = continuing.map(({ run }) => run.lease)
  const held = await advanceCursors(tx, leases)
  for (const { run, events, hasMore } of continuing) {
    run.ends.set(run.lease, held.has(run.lease) ? { end: 'continued', events, hasMore } : { end: 'lost' })
  }
}

async function yieldRuns(tx: Transaction, runs: readonly DeferredEnd[]): Promise<void> {
  const releases = runs.map((run) => releaseAt(run, tx.now))
  const released = await releaseLeases(tx, releases)
  for (const { lease, ends } of runs) {
    ends.set(lease, { end: released.has(lease.subscriptionId) ? 'yielded' : 'lost' })
  }
}

async function releaseRuns(tx: Transaction, releases: readonly ReleasedRun[]): Promise<void> {
  const released = await releaseLeases(tx, releases)
  const closing = releases.map(async ({ run, subscriptionId, progress }) => {
    const dueAt = released.get(subscriptionId)
    if (dueAt === null) await closeIfFinished(tx, run.subscription, progress.lastEmittedLogId)
    run.ends.set(run.lease, dueAt === undefined ? { end: 'lost' } : { end: 'released', dueAt })
  })
  await Promise.all(closing)
}

/**
 * Pauses a push subscription for good once the last event of its task was sent or given up. Looks at the log and not at what the
 * run did: the run that sent the last event may have died before it came here.
 */
async function closeIfFinished(
  tx: Transaction,
  subscription: Subscription,
  lastEmittedLogId: number | null,
): Promise<void> {
  if (subscription.kind !== 'push' || lastEmittedLogId === null) return
  const [last] = await readTaskEvents(tx, subscription.audience, lastEmittedLogId - 1, 1, lastEmittedLogId)
  if (last && finishesTask(last)) await finishPush(tx, subscription)
}

function finishesTask({ type, data }: LogEvent): boolean {
  return type === 'task.state_changed' && isTerminal(data.newState as TaskState)
}

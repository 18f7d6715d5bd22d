import type { LogEvent } from '../../log/event.ts'
import { readTaskEvents } from '../../log/event-store.ts'
import { type Subscription, taskFinished } from '../../registry/subscriptions/subscription.ts'
import type { Transaction } from '../../storage/database.ts'
import { p, sql, statement } from '../../storage/statement.ts'

const close = statement<{ id: string; reason: string; now: number }>(sql`update subscription
  set status = 'paused', reason = ${p('reason')}, updated_at = ${p('now')}
  where id = ${p('id')} and status = 'active' and due_at is null`)

/**
 * Pauses a push subscription for good once it has told, or given up telling, how its task ended. Looks at the log and not at
 * what the run did: the one that sent the last event may have died before it came here.
 */
export async function closeIfFinished(
  tx: Transaction,
  { id, kind, audience }: Subscription,
  lastEmittedLogId: number | null,
): Promise<void> {
  if (kind !== 'push' || lastEmittedLogId === null) return
  const [last] = await readTaskEvents(tx, audience, lastEmittedLogId - 1, 1, lastEmittedLogId)
  if (last && finishesTask(last)) await tx.run(close, { id, reason: taskFinished, now: tx.now })
}

/** The states behind which a task tells nothing more (A2A specification §4.1.3). */
const finalStates = new Set<unknown>(['completed', 'failed', 'canceled', 'rejected'])

function finishesTask({ type, data }: LogEvent): boolean {
  return type === 'task.state_changed' && finalStates.has(data.newState)
}

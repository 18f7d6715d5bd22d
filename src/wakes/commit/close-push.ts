import type { LogEvent } from '../../log/event.ts'
import { readTaskEvents } from '../../log/event-store.ts'
import type { Subscription } from '../../registry/subscriptions/subscription.ts'
import type { Transaction } from '../../storage/database.ts'
import { isTerminal, type TaskState } from '../../words/task-states.ts'
import { finishPush } from '../store/subscription-state.ts'

/**
 * Pauses a push subscription for good once the last event of its task was sent or given up. Looks at the log and not at what the
 * run did: the run that sent the last event may have died before it came here.
 */
export async function closeIfFinished(
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

import type { Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import { isTerminal } from '../words/task-states.ts'
import type { TaskContext } from './context.ts'
import { encode } from './encoded.ts'
import { agentMessage } from './message-input.ts'
import { lockTask, partsByHandOver } from './task-store.ts'
import { transition } from './transition.ts'

/** How many tasks one transaction rejects: others wait for it. */
export const rejectMax = 100

// Tasks that were sent to it, then those that were handed to it.
const openOf = partsByHandOver.map((part) =>
  statement<{ assigneeId: string; limit: number }, { id: string }>(sql`select id from task
    where assignee_id = ${p('assigneeId')} and state in ('submitted', 'working', 'input-required', 'auth-required') and ${part}
    ${limited}`),
)

/** The caller that ends the tasks of an assignee, and the reason. */
export interface Rejection {
  readonly assigneeId: string
  readonly actor: string
  readonly actorId: string
  readonly reason: string
  /** The text that the originator reads. */
  readonly text: string
}

/** Rejects up to `rejectMax` open tasks of an assignee, in the caller's transaction. Their originators are woken. Returns how many. */
export async function rejectOpenTasks(
  tx: Transaction,
  context: Pick<TaskContext, 'append'>,
  { assigneeId, actor, actorId, reason, text }: Rejection,
): Promise<number> {
  let count = 0
  for (const { id } of await findOpen(tx, assigneeId)) {
    const task = await lockTask(tx, id)
    // Since the list was read, it may have ended or been handed over.
    if (!task || isTerminal(task.state) || task.assigneeId !== assigneeId) continue
    // A full task takes this message too: it has to end like any other.
    const message = encode(agentMessage({ parts: [{ text }] }, task), 'message')
    await transition(tx, context, task, { to: 'rejected', actor, actorId, message, reason })
    count++
  }
  return count
}

async function findOpen(tx: Transaction, assigneeId: string): Promise<{ id: string }[]> {
  const [sent, handedOver] = await Promise.all(openOf.map((part) => tx.all(part, { assigneeId, limit: rejectMax })))
  // Locked in one order. The statement does not sort: it would sort all open tasks for each hundred.
  return [...sent!, ...handedOver!].slice(0, rejectMax).sort((a, b) => (a.id < b.id ? -1 : 1))
}

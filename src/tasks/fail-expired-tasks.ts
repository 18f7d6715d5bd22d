import type { Sweep } from '../lib/sweeper.ts'
import { gatewayIdentity } from '../registry/agents/identity.ts'
import type { Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { TaskContext } from './context.ts'
import { encode } from './encoded.ts'
import { agentMessage } from './message-input.ts'
import { lockTask } from './task-store.ts'
import { transition } from './transition.ts'

const batchMax = 100

const expired = statement<{ now: number; limit: number }, { id: string }>(sql`select id from task
  where expires_at <= ${p('now')} and state = 'submitted' order by expires_at ${limited}`)

/** Fails the tasks that are still `submitted` at their deadline, with the reason `expired`. Source: D8. */
export function expirySweep(context: TaskContext): Sweep {
  return { name: 'expiry', everyMs: 1_000, run: async () => (await failExpiredTasks(context)) === batchMax }
}

/** Fails a batch of expired tasks. Returns how many there were. */
async function failExpiredTasks(context: TaskContext): Promise<number> {
  const { db, clock } = context
  const due = await db.all(expired, { now: clock.now(), limit: batchMax })
  await Promise.all(due.map(({ id }) => db.transaction((tx) => fail(tx, context, id))))
  return due.length
}

async function fail(tx: Transaction, context: TaskContext, id: string): Promise<void> {
  const task = await lockTask(tx, id)
  // Since the list was read, the assignee may have taken the task, or another gateway may have failed it.
  if (task?.state !== 'submitted' || task.expiresAt === null || task.expiresAt > tx.now) return
  const parts = [{ text: `expired: nobody took the task before ${new Date(task.expiresAt).toISOString()}` }]
  // A full task takes this message too: it has to end like any other.
  const message = encode(agentMessage({ parts }, task), 'message')
  await transition(tx, context, task, { to: 'failed', actor: gatewayIdentity, message, reason: 'expired' })
}

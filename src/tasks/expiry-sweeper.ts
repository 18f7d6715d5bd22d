import { Sweeper } from '../lib/sweeper.ts'
import type { Logger } from '../logger.ts'
import type { Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { TaskContext } from './context.ts'
import { encode } from './encoded.ts'
import { agentMessage } from './message-input.ts'
import { lockTask } from './task-store.ts'
import { transition } from './transition.ts'

const sweepMs = 1_000
const batchMax = 100

const expired = statement<{ now: number; limit: number }, { id: string }>(sql`select id from task
  where expires_at <= ${p('now')} and state = 'submitted' order by expires_at ${limited}`)

/** Fails the tasks that are still `submitted` at their deadline, with the reason `expired`. Source: D8. */
export class ExpirySweeper extends Sweeper {
  readonly #context: TaskContext

  /** @param isTurn whether this gateway is the one to sweep; without it, it always is */
  constructor(context: TaskContext, log: Logger, isTurn?: (name: string) => Promise<boolean>) {
    super({
      clock: context.clock,
      everyMs: sweepMs,
      isTurn: isTurn && (() => isTurn('expiry')),
      failed: (err) => log.error({ err }, 'task.sweep_failed'),
    })
    this.#context = context
  }

  /** One pass. Returns the number of tasks that had expired. */
  async runOnce(): Promise<number> {
    const { db, clock } = this.#context
    const due = await db.all(expired, { now: clock.now(), limit: batchMax })
    await Promise.all(due.map(({ id }) => db.transaction((tx) => this.#fail(tx, id))))
    return due.length
  }

  async #fail(tx: Transaction, id: string): Promise<void> {
    const task = await lockTask(tx, id)
    // Since the list was read, the assignee may have taken the task, or another gateway may have failed it.
    if (task?.state !== 'submitted' || task.expiresAt === null || task.expiresAt > tx.now) return
    const parts = [{ text: `expired: nobody took the task before ${new Date(task.expiresAt).toISOString()}` }]
    // A full task takes this message too: it has to end like any other.
    const message = encode(agentMessage({ parts }, task), 'message')
    await transition(tx, this.#context, task, { to: 'failed', actor: '@gateway', message, reason: 'expired' })
  }

  protected async sweep(): Promise<boolean> {
    return (await this.runOnce()) === batchMax
  }
}

import { Sweeper } from '../lib/sweeper.ts'
import type { Logger } from '../logger.ts'
import { identityOf } from '../registry/agents/identity.ts'
import type { Transaction } from '../storage/database.ts'
import { limited, p, sql, statement } from '../storage/statement.ts'
import type { TaskContext } from './context.ts'
import { agentMessage } from './message-input.ts'
import { write } from './room.ts'
import { stateChanged } from './task-events.ts'
import { insertTaskMessage, lockTask, moveTaskRow } from './task-store.ts'

const sweepMs = 1_000
const batchMax = 100

const expired = statement<{ now: number; limit: number }, { id: string }>(sql`select id from task
  where expires_at <= ${p('now')} and state = 'submitted' order by expires_at ${limited}`)

/** Fails the tasks that nobody took in time, with the reason `expired`. Source: D8. */
export class ExpirySweeper extends Sweeper {
  readonly #context: TaskContext

  /** `isTurn`: whether this gateway is the one to sweep. */
  constructor(context: TaskContext, log: Logger, isTurn?: (name: string) => Promise<boolean>) {
    super({
      clock: context.clock,
      everyMs: sweepMs,
      isTurn: isTurn && (() => isTurn('expiry')),
      failed: (err) => log.error({ err }, 'task.sweep_failed'),
    })
    this.#context = context
  }

  /** One pass. Returns how many tasks it failed. */
  async runOnce(): Promise<number> {
    const { db, clock } = this.#context
    const due = await db.all(expired, { now: clock.now(), limit: batchMax })
    await Promise.all(due.map(({ id }) => db.transaction((tx) => this.#fail(tx, id))))
    return due.length
  }

  async #fail(tx: Transaction, id: string): Promise<void> {
    const task = await lockTask(tx, id)
    // Somebody took it, or another gateway swept it, since the list was read.
    if (task?.state !== 'submitted' || task.expiresAt === null || task.expiresAt > tx.now) return
    const parts = [{ text: `expired: nobody took the task before ${new Date(task.expiresAt).toISOString()}` }]
    // The gateway's own word needs no room: a full task ends like any other.
    const written = write(agentMessage({ parts }, task), 'message')
    const seq = await insertTaskMessage(tx, task, written)
    await moveTaskRow(tx, task, {
      state: 'failed',
      expectedVersion: task.version,
      statusMessageSeq: seq,
      messageCount: seq,
      size: written.size,
      reason: 'expired',
    })
    const change = stateChanged({
      task,
      previousState: task.state,
      newState: 'failed',
      version: task.version + 1,
      statusMessageSeq: seq,
      actor: '@gateway',
      originator: await identityOf(tx, task.originatorId),
      assignee: await identityOf(tx, task.assigneeId),
      now: tx.now,
      reason: 'expired',
    })
    await this.#context.append(tx, task.projectId, [change])
  }

  protected async sweep(): Promise<boolean> {
    return (await this.runOnce()) === batchMax
  }
}

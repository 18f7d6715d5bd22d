import { sleep } from '../lib/clock.ts'
import type { Logger } from '../logger.ts'
import { identityOf } from '../registry/agents.ts'
import { p, sql, statement } from '../storage/statement.ts'
import type { TaskContext } from './context.ts'
import { pruneIdempotencyKeys } from './idempotency-key-store.ts'
import { agentMessage } from './message-input.ts'
import { stateChanged } from './task-events.ts'
import { insertTaskMessage, moveTaskRow, type TaskRow, taskColumns, taskFromRow } from './task-store.ts'

const sweepMs = 1_000
const batchMax = 100

const expired = statement<{ now: number; limit: number }, TaskRow>(sql`select ${taskColumns} from task
  where expires_at <= ${p('now')} and state = 'submitted' order by expires_at limit ${p('limit')}`)

/** Fails the tasks that nobody took in time, with the reason `expired`. Source: D8. */
export class ExpirySweeper implements AsyncDisposable {
  readonly #context: TaskContext
  readonly #log: Logger
  readonly #stopping = new AbortController()
  #loop: Promise<void> | undefined

  constructor(context: TaskContext, log: Logger) {
    this.#context = context
    this.#log = log
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#loop
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** One pass. Answers how many tasks it failed; forgets old idempotency keys on the way. */
  async runOnce(): Promise<number> {
    const failed = await this.#failExpired()
    await pruneIdempotencyKeys(this.#context.db, this.#context.clock.now())
    return failed
  }

  async #failExpired(): Promise<number> {
    const { db, append, clock } = this.#context
    const due = await db.all(expired, { now: clock.now(), limit: batchMax })
    if (due.length === 0) return 0
    return db.transaction(async (tx) => {
      const rows = await tx.all(expired, { now: tx.now, limit: batchMax })
      for (const task of rows.map(taskFromRow)) {
        const before = new Date(task.expiresAt ?? tx.now).toISOString()
        const parts = [{ text: `expired: nobody took the task before ${before}` }]
        const seq = await insertTaskMessage(tx, task, agentMessage({ parts }, task))
        await moveTaskRow(tx, task, {
          state: 'failed',
          expectedVersion: task.version,
          statusMessageSeq: seq,
          messageCount: seq,
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
        await append(tx, task.projectId, [change])
      }
      return rows.length
    })
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      try {
        const count = await this.runOnce()
        if (count === batchMax) continue
      } catch (error) {
        this.#log.error({ err: error }, 'task.sweep_failed')
      }
      await sleep(this.#context.clock, sweepMs, signal)
    }
  }
}

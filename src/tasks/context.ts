import type { Clock } from '../lib/clock.ts'
import type { AppendEvents } from '../log/append.ts'
import type { NewEvent } from '../log/event.ts'
import type { LogNotifier } from '../log/log-notifier.ts'
import type { Agent, Priority, WakePolicy } from '../registry/agents/agent.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Usage } from '../registry/shares/usage.ts'
import type { Database, Transaction } from '../storage/database.ts'

/** A piece of mail that came with a task, on its way into the recipient's mailbox. */
export interface TaskMail {
  readonly sender: Caller
  readonly recipientId: string
  readonly projectId: string
  readonly subject: string
  readonly taskId: string
  readonly taskSeq: number
  readonly priority: Priority
  readonly wakePolicy: WakePolicy
  readonly taggedConcepts: readonly string[]
}

/** What the mailbox answers: the log's row to append, and what a task event says of the mail. */
export interface RecordedMail {
  readonly event: NewEvent
}

export interface TaskContext {
  readonly db: Database
  readonly clock: Clock
  readonly append: AppendEvents
  readonly notifier: LogNotifier
  /** Puts a message into the mailbox within the task's own transaction. Source: D9. */
  readonly recordMail: (tx: Transaction, mail: TaskMail) => Promise<RecordedMail>
  /** Limits what is sent, as mail is limited. Both throw; `take` counts. Source: D22. */
  readonly sends: Record<'check' | 'take', (caller: Caller, recipient: Pick<Agent, 'id' | 'handle'>) => void>
  /** What each agent and project has stored. */
  readonly usage: Pick<Usage, 'requireRoom' | 'add'>
}

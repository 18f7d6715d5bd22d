import type { Clock } from '../lib/clock.ts'
import type { AppendEvents } from '../log/append.ts'
import type { NewEvent } from '../log/event.ts'
import type { LogNotifier } from '../log/log-notifier.ts'
import type { Agent, Priority, WakePolicy } from '../registry/agents/agent.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { Usage } from '../registry/shares/usage.ts'
import type { Database, Transaction } from '../storage/database.ts'

/** Mail that comes with a task's message, to be put into the recipient's mailbox. */
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

/** The event of recorded mail, to be appended by the task. */
export interface RecordedMail {
  readonly event: NewEvent
}

export interface TaskContext {
  readonly db: Database
  readonly clock: Clock
  readonly append: AppendEvents
  readonly notifier: LogNotifier
  /** Puts a message into the mailbox within the task's transaction. Source: D9. */
  readonly recordMail: (tx: Transaction, mail: TaskMail) => Promise<RecordedMail>
  /** Applies the limits on mail to messages. Both throw; only `take` counts. Source: D22. */
  readonly sends: Record<'check' | 'take', (caller: Caller, recipient: Pick<Agent, 'id' | 'handle'>) => void>
  /** The storage that each agent and project uses. */
  readonly usage: Pick<Usage, 'requireRoom' | 'add'>
}

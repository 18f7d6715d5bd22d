import type { NewEvent } from '../../log/event.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Priority, WakePolicy } from '../../words/policies.ts'
import type { Caller } from '../callers/caller.ts'

/** The mail of one message of a task. Its body is the task's message. */
interface TaskMail {
  readonly sender: Caller
  readonly recipientId: string
  readonly projectId: string
  readonly subject: string
  readonly taskId: string
  /** The number of the message within its task, from 1. */
  readonly taskSeq: number
  readonly priority: Priority
  readonly wakePolicy: WakePolicy
  readonly taggedConcepts: readonly string[]
}

/** Puts the mail of a task's message into its recipient's mailbox, within the task's transaction. Returns the event to append. Source: D9. */
export type RecordTaskMail = (tx: Transaction, mail: TaskMail) => Promise<{ readonly event: NewEvent }>

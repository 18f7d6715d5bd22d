import type { NewEvent } from '../../log/event.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Caller } from '../callers/caller.ts'

/** A task that is named as the ref of a claim. Its assignee is the owner of the ref. */
export interface ClaimedTask {
  readonly id: string
  /** The agent that the task was sent to. */
  readonly agentId: string
  readonly assigneeId: string
  readonly createdAt: number
  /** True when its state is final: then it stays with its assignee. */
  readonly isFinished: boolean
  /** When its state last changed, ms since the epoch. */
  readonly statusAt: number
}

/** The next assignee of a task. */
interface NextAssignee {
  readonly id: string
  /** The event of the mail that comes with it. */
  readonly mail?: NewEvent | undefined
}

/** How claims and hand-offs move a task. The features never import each other: the wiring connects them. Source: D18. */
export interface TaskAssignment {
  /**
   * The task that a ref names, locked until the transaction ends; undefined: the ref names no task. Errors: `task-not-found` for a
   * caller that is no party of it.
   */
  find(tx: Transaction, caller: Caller, ref: string): Promise<ClaimedTask | undefined>
  /**
   * Makes another agent the assignee of an unfinished task that `find` returned in this transaction. Appends the events of the change: call
   * it after appending any events that must come before them in the log.
   */
  assign(tx: Transaction, caller: Caller, taskId: string, next: NextAssignee): Promise<void>
}

import type { NewEvent } from '../../log/event.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Agent } from '../agents/agent.ts'
import type { Caller } from '../callers/caller.ts'

/** The mail to the new owner of a claim. */
interface HandoffMail {
  readonly sender: Caller
  readonly recipient: Agent
  readonly projectId: string
  readonly ref: string
  /** What the new owner should know. */
  readonly body: string | null
}

/** Puts the mail of a handoff into the new owner's mailbox, within the transaction of the handoff. Returns the events to append. */
export type SendHandoffMail = (
  tx: Transaction,
  mail: HandoffMail,
) => Promise<{ readonly messageId: string; readonly events: NewEvent[] }>

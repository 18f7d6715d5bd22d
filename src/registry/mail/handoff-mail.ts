import type { Problem } from '../../errors.ts'
import type { NewEvent } from '../../log/event.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Addressee } from '../agents/addressee-store.ts'
import type { Caller } from '../callers/caller.ts'

/** The mail to the new owner of a claim. */
interface HandoffMail {
  readonly sender: Caller
  readonly recipient: Addressee
  readonly projectId: string
  readonly ref: string
  /** What the new owner should know. */
  readonly body: string | null
}

interface SentHandoffMail {
  readonly messageId: string
  /** To append in the same transaction. */
  readonly events: NewEvent[]
}

/** Why the mail was not sent. */
export interface RefusedHandoffMail {
  readonly problem: Problem
  /** To append in the same transaction; undefined when an earlier refusal has appended one. */
  readonly event: NewEvent | undefined
}

/**
 * Puts the mail of a handoff into the new owner's mailbox, within the transaction of the handoff. A refusal of the limits on mail is
 * returned, not thrown, because its writes must be kept: commit the transaction without the handoff, then throw the problem.
 * Errors: `quota-exceeded`.
 */
export type SendHandoffMail = (tx: Transaction, mail: HandoffMail) => Promise<SentHandoffMail | RefusedHandoffMail>

import type { NewEvent } from '../../log/event.ts'
import type { Transaction } from '../../storage/database.ts'
import type { Addressee } from '../agents/addressee-store.ts'
import type { Caller } from '../callers/caller.ts'
import type { TakeSend } from './send-limits.ts'

/** The mail to the new owner of a claim. */
interface HandoffMail {
  readonly sender: Caller
  readonly recipient: Addressee
  readonly projectId: string
  readonly ref: string
  /** The text for the new owner. */
  readonly body: string | null
}

interface SentHandoffMail {
  readonly messageId: string
  /** To append in the same transaction. */
  readonly events: NewEvent[]
}

/**
 * Puts the mail of a handoff into the new owner's mailbox, within the transaction of the handoff. `take` counts it.
 * Errors: `quota-exceeded`, and those of the limits on mail.
 */
export type SendHandoffMail = (tx: Transaction, mail: HandoffMail, take: TakeSend) => Promise<SentHandoffMail>

import { Problem } from '../../errors.ts'
import { readBoundedPage } from '../../lib/bounded-page.ts'
import { sizeLimits } from '../../limits.ts'
import { identityIn } from '../../registry/agents/agent.ts'
import { findAgentById } from '../../registry/agents/agent-store.ts'
import { gatewayId, identityFrom, operatorId } from '../../registry/agents/identity.ts'
import { type Caller, operates } from '../../registry/callers/caller.ts'
import { findParked, type ParkReason } from '../../registry/recovery/recovery-store.ts'
import type { Reader } from '../../storage/database.ts'
import { type VisibleEvidence, visibleEvidence, type WakeEvidence } from '../delivery/wake-evidence.ts'
import { MailSteps, threadEdges } from '../messages/id-intervals.ts'
import type { MailMessage, Recipient } from '../messages/message.ts'
import { findMessage, readSent, readThread, sizeOfMail } from '../messages/message-store.ts'
import { type AgentRecipient, findRecipient, listRecipients } from '../messages/recipient-store.ts'

/** A recipient with its identity, and what the reader may know of its newest wake. */
export type NamedRecipient = Recipient & {
  readonly agent: string
  readonly wake: VisibleEvidence | null
  readonly held?: ParkReason
}

/** A message as one caller may see it. Its sender and the operator see every recipient; a recipient sees itself. */
export interface ReadMail {
  readonly message: MailMessage
  readonly from: string
  readonly recipients: readonly NamedRecipient[]
}

/** Recipients listed for one message. `recipientCount` has the total. */
const recipientsMax = 1_000

/** Returns a message to its sender, its recipients and the operator. Errors: `message-not-found`. */
export async function readMail(db: Reader, caller: Caller, id: string): Promise<ReadMail> {
  const message = await findMessage(db, id)
  const read = message && (await asSeenBy(db, caller, message, recipientsMax))
  if (!read) {
    throw new Problem('message-not-found', { detail: `There is no message ${id}, or it is not yours.` })
  }
  return { ...read, recipients: await withHeld(db, read.recipients) }
}

/** Says of unread mail to a parked agent why it waits. Source: D50. */
async function withHeld(db: Reader, recipients: readonly NamedRecipient[]): Promise<NamedRecipient[]> {
  const unread = recipients.filter(({ status }) => status === 'sent').map(({ agentId }) => agentId)
  const parked = await findParked(db, unread)
  return recipients.map((recipient) => {
    const held = recipient.status === 'sent' ? parked.get(recipient.agentId) : undefined
    return held ? { ...recipient, held } : recipient
  })
}

/** Returns whether a caller may see a message, whether with all recipients, and the caller's own state of it. */
export async function rolesInMail(
  db: Reader,
  caller: Caller,
  message: MailMessage,
): Promise<{ sees: boolean; seesAll: boolean; own: NamedRecipient | undefined }> {
  // Operators share one mailbox. A message in it is visible to the operators of its project.
  if (caller.kind === 'operator' && !operates(caller, message.projectId)) {
    return { sees: false, seesAll: false, own: undefined }
  }
  const own = await findRecipient(db, caller.id, message.id)
  const isOperated = caller.kind === 'operator' && caller.projectId === message.projectId
  const seesAll = isOperated || caller.id === message.senderId
  return { sees: seesAll || own !== undefined, seesAll, own: own && named(own, true) }
}

async function asSeenBy(
  db: Reader,
  caller: Caller,
  message: MailMessage,
  limit: number,
): Promise<ReadMail | undefined> {
  const { sees, seesAll, own } = await rolesInMail(db, caller, message)
  if (!sees) return undefined
  const recipients = seesAll ? (await listRecipients(db, message.id, limit)).map(seenBy(caller)) : own ? [own] : []
  return { message, from: await senderOf(db, message), recipients }
}

/** Recipients listed for each message of a page. */
const threadRecipientsMax = 50

interface MailPage {
  readonly mails: readonly ReadMail[]
  readonly more: boolean
  /** Of the mail that was read, as `sizeOfMail` counts it. */
  readonly size: number
}

/**
 * Reads a page of a thread, oldest first: the messages that the caller sent or received; for an operator all of them.
 * @param after the messageId of the last message before the page; `''` from the beginning
 * @param entries the most messages of the thread that one statement looks at
 */
export async function readThreadPage(
  db: Reader,
  caller: Caller,
  threadId: string,
  after: string,
  limit: number,
  entries?: number,
): Promise<MailPage> {
  const agentId = caller.kind === 'operator' ? undefined : caller.id
  const page = { threadId, projectId: caller.projectId }
  const steps = new MailSteps(db, threadEdges.oldest, { order: 'oldest', entries, params: page })
  const read = (last: MailMessage | undefined, count: number) =>
    steps.next(last?.id ?? after, count, (interval, limit) => readThread(db, { limit, ...page, ...interval }, agentId))
  const { items, more, size } = await readBoundedPage(read, pageOf(limit))
  const mails = await seen(db, caller, items)
  if (mails.length === 0 && after === '') {
    throw new Problem('thread-not-found', {
      detail: `There is no thread ${threadId}, or none of its messages is yours.`,
      remedy: 'find-thread',
    })
  }
  return { mails, more, size }
}

const pageOf = (limit: number) => ({ limit, sizeMax: sizeLimits.page.max, sizeOf: sizeOfMail })

/** Reads the caller's sent mail before a message (`''`: from the newest), newest first, with the states of its recipients. */
export async function readSentPage(db: Reader, caller: Caller, before: string, limit: number): Promise<MailPage> {
  const read = (last: MailMessage | undefined, count: number) => readSent(db, caller.id, last?.id ?? before, count)
  const { items, more, size } = await readBoundedPage(read, pageOf(limit))
  return { mails: await seen(db, caller, items), more, size }
}

async function seen(db: Reader, caller: Caller, messages: readonly MailMessage[]): Promise<ReadMail[]> {
  const read = await Promise.all(messages.map((message) => asSeenBy(db, caller, message, threadRecipientsMax)))
  return read.filter((mail) => mail !== undefined)
}

/** Reads the sender's identity in the project of the message. */
async function senderOf(db: Reader, { senderId, projectId }: MailMessage): Promise<string> {
  const isAgent = senderId !== gatewayId && senderId !== operatorId
  const sender = isAgent ? await findAgentById(db, senderId) : undefined
  return identityFrom(senderId, sender && identityIn(projectId, sender))
}

/** The proof of a wake is for the recipient, and for the operator of its project. */
function seenBy(caller: Caller): (recipient: AgentRecipient) => NamedRecipient {
  return (recipient) => {
    const { agentId, projectId } = recipient
    return named(recipient, agentId === caller.id || (projectId !== null && operates(caller, projectId)))
  }
}

function named({ handle, projectId: _, wake, ...recipient }: AgentRecipient, isOwn: boolean): NamedRecipient {
  const evidence = wake === null ? null : visibleEvidence(JSON.parse(wake) as WakeEvidence, isOwn)
  return { agent: identityFrom(recipient.agentId, handle), wake: evidence, ...recipient }
}

import { newMessageId } from '../../lib/ids.ts'
import type { NewEvent } from '../../log/event.ts'
import { waitingForMail } from '../../registry/followers/follower-store.ts'
import type { Transaction } from '../../storage/database.ts'
import type { WakePolicy } from '../../words/policies.ts'
import type { MailMessage } from './message.ts'
import { messageSent } from './message-event.ts'
import { insertMessage } from './message-store.ts'
import { insertRecipients } from './recipient-store.ts'

type Required = 'projectId' | 'senderId' | 'subject' | 'wakePolicy'
type Assigned = 'threadId' | 'createdAt' | 'recipientCount'

/** A message to put into mailboxes. A field that is left out has the default of `putMail`. */
export interface NewMail extends Pick<MailMessage, Required>, Partial<Omit<MailMessage, Required | Assigned>> {
  /** The thread that it continues; left out or null: it begins one. */
  readonly threadId?: string | null
  /** The sender's identity in the log and in every wake, e.g. `@donna`. */
  readonly from: string
  /** Agents, each once, each with its own policy. */
  readonly recipients: readonly { readonly id: string; readonly wakePolicy: WakePolicy }[]
  /** The live session of the only recipient, or the session that the mail is addressed to. */
  readonly sessionId?: string | null
  /** True when a route to the only recipient is known. */
  readonly routed?: boolean
}

/**
 * Puts a message into the mailboxes of its recipients. Returns the events to append, last, in the same transaction: one for each
 * wake policy that recipients have, with these recipients as its audience.
 */
export async function putMail(
  tx: Transaction,
  mail: NewMail,
): Promise<{ message: MailMessage; events: [NewEvent, ...NewEvent[]] }> {
  const { from, recipients, sessionId = null, routed = false } = mail
  const message = messageOf(mail, tx.now)
  await insertMessage(tx, message)
  const { id: messageId, type, signalType } = message
  const origin = `${message.projectId} ${message.senderId}`
  const events: NewEvent[] = []
  const [only] = recipients
  const groups: Iterable<readonly [WakePolicy, readonly string[]]> =
    recipients.length === 1 ? [[only!.wakePolicy, [only!.id]]] : byPolicy(recipients)
  for (const [wakePolicy, agentIds] of groups) {
    // `silent` mail is only in the inbox: no route delivers it. Source: S1-15.
    const pending = wakePolicy === 'silent' ? 0 : 1
    const receipt = routed ? 'routed' : 'accepted'
    await insertRecipients(tx, agentIds, { messageId, type, signalType, pending, receipt, sessionId, origin })
    const followed = wakePolicy === 'immediate' ? await waitingForMail(tx, agentIds) : []
    events.push(messageSent(message, from, agentIds, { wakePolicy, followed }))
  }
  if (events.length === 0) events.push(messageSent(message, from, []))
  return { message, events: events as [NewEvent, ...NewEvent[]] }
}

function messageOf(mail: NewMail, now: number): MailMessage {
  const id = mail.id ?? newMessageId(now)
  return {
    id,
    projectId: mail.projectId,
    senderId: mail.senderId,
    person: mail.person ?? null,
    senderSession: mail.senderSession ?? null,
    address: mail.address ?? null,
    broadcast: mail.broadcast ?? false,
    subject: mail.subject,
    body: mail.body ?? null,
    type: mail.type ?? 'msg',
    signalType: mail.signalType ?? null,
    payload: mail.payload ?? null,
    ref: mail.ref ?? null,
    taskId: mail.taskId ?? null,
    taskSeq: mail.taskSeq ?? null,
    priority: mail.priority ?? 'normal',
    wakePolicy: mail.wakePolicy,
    taggedConcepts: mail.taggedConcepts ?? [],
    inReplyTo: mail.inReplyTo ?? null,
    // A message without a thread begins one.
    threadId: mail.threadId ?? id,
    recipientCount: mail.recipients.length,
    createdAt: now,
  }
}

function byPolicy(recipients: NewMail['recipients']): Map<WakePolicy, string[]> {
  const groups = new Map<WakePolicy, string[]>()
  for (const { id, wakePolicy } of recipients) {
    const group = groups.get(wakePolicy)
    if (group) group.push(id)
    else groups.set(wakePolicy, [id])
  }
  return groups
}

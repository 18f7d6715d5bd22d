import { newMessageId } from '../../lib/ids.ts'
import type { NewEvent } from '../../log/event.ts'
import type { WakePolicy } from '../../registry/agents/agent.ts'
import type { Transaction } from '../../storage/database.ts'
import type { MailMessage } from './message.ts'
import { insertMessage } from './message-store.ts'
import { insertRecipients } from './recipient-store.ts'

/** A message on its way into mailboxes; the gateway gives it its id and its time. */
export interface NewMail extends Omit<MailMessage, 'id' | 'threadId' | 'createdAt' | 'recipientCount'> {
  /** `@donna`: what the log and every wake call the sender. */
  readonly from: string
  /** Null: it begins a thread. */
  readonly threadId: string | null
  /** Agents, each once, with the policy that is theirs. */
  readonly recipients: readonly { readonly id: string; readonly wakePolicy: WakePolicy }[]
  /** The session that its one recipient was resolved to. */
  readonly sessionId?: string | null
  /** Whether a route to its recipient is known. */
  readonly routed?: boolean
  readonly id?: string
}

/**
 * Puts a message into the mailboxes of its recipients and answers the events to append for it, last, in the same transaction:
 * one, whose audience is everybody who got it, or one for each policy that its recipients have.
 */
export async function putMail(
  tx: Transaction,
  mail: NewMail,
): Promise<{ message: MailMessage; events: [NewEvent, ...NewEvent[]] }> {
  const { from, recipients, sessionId = null, routed = false, id = newMessageId(tx.now), threadId, ...rest } = mail
  const message: MailMessage = {
    id,
    threadId: threadId ?? id,
    recipientCount: recipients.length,
    createdAt: tx.now,
    ...rest,
  }
  await insertMessage(tx, message)
  const { type, signalType } = message
  const events: NewEvent[] = []
  for (const [wakePolicy, agentIds] of byPolicy(recipients)) {
    // `silent` is stored and nothing else; whoever looks into the inbox finds it. Source: S1-15.
    const pending = wakePolicy === 'silent' ? 0 : 1
    const receipt = routed ? 'routed' : 'accepted'
    await insertRecipients(tx, agentIds, { messageId: id, type, signalType, pending, receipt, sessionId })
    events.push(messageSent({ ...message, wakePolicy }, from, agentIds))
  }
  const [first = messageSent(message, from, []), ...others] = events
  return { message, events: [first, ...others] }
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

/** The log's row for a message: a pointer, never what it says. Source: S1-24. */
function messageSent(message: MailMessage, from: string, audience: readonly string[]): NewEvent {
  const { id, subject, priority, wakePolicy, taggedConcepts, inReplyTo, threadId, taskId } = message
  return {
    type: 'message.sent',
    actor: from,
    audience,
    ...(taskId === null ? {} : { taskId }),
    data: {
      messageId: id,
      from,
      subject,
      priority,
      wakePolicy,
      taggedConcepts,
      isReplyTo: inReplyTo,
      isBroadcast: message.broadcast,
      threadId,
      ...(taskId === null ? { type: message.type } : { taskId }),
      ...(message.signalType === null ? {} : { signalType: message.signalType }),
    },
  }
}

import { Problem } from '../../errors.ts'
import type { AppendEvents } from '../../log/append.ts'
import type { NewEvent, Routing } from '../../log/event.ts'
import { findAgentById } from '../../registry/agents/agent-store.ts'
import { gatewayId, operatorId } from '../../registry/agents/identity.ts'
import { policiesOf } from '../../registry/agents/party.ts'
import { type Caller, nameIn } from '../../registry/callers/caller.ts'
import type { Database, Reader } from '../../storage/database.ts'
import type { MessageStatus, ReportableStatus } from '../../words/mail.ts'
import type { MailMessage } from '../messages/message.ts'
import { findMessage } from '../messages/message-store.ts'
import { advanceStatus, findRecipient } from '../messages/recipient-store.ts'
import { report } from '../messages/status.ts'
import { type ReadMail, readMail, rolesInMail } from './read-mail.ts'

/**
 * Reports the caller's status of a message that was sent to it. The status moves forward only; a repeat changes nothing. The
 * sender can be woken by each change. Errors: `message-not-found`, `forbidden` (not a recipient), `message-status-conflict`. Source: S4-6.
 */
export async function reportStatus(
  context: { db: Database; append: AppendEvents },
  caller: Caller,
  messageId: string,
  status: ReportableStatus,
): Promise<ReadMail> {
  await context.db.transaction(async (tx) => {
    const message = await requireOwn(tx, caller, messageId)
    const { status: before } = (await findRecipient(tx, caller.id, messageId))!
    if (report(before, status) === 'same') return
    // Another call of the same agent may have changed the status since it was read: then check against that status.
    if (!(await advanceStatus(tx, caller.id, messageId, status))) {
      const now = await findRecipient(tx, caller.id, messageId)
      if (now) report(now.status, status)
      return
    }
    const { projectId, audience, routing } = await eventTarget(tx, message, caller)
    const recipient = { id: caller.id, identity: nameIn(projectId, caller) }
    const change = { message, recipient, previousStatus: before, status, changedAt: tx.now }
    await context.append(tx, projectId, [statusChanged(change, audience, routing)])
  })
  return readMail(context.db, caller, messageId)
}

async function requireOwn(db: Reader, caller: Caller, messageId: string): Promise<MailMessage> {
  const message = await findMessage(db, messageId)
  const roles = message && (await rolesInMail(db, caller, message))
  if (!message || !roles?.sees) {
    throw new Problem('message-not-found', { detail: `There is no message ${messageId}, or it is not yours.` })
  }
  if (roles.own) return message
  throw new Problem('forbidden', {
    detail: 'Only a recipient may report the status of a message. The sender can read it.',
  })
}

/** The event goes to the log of the sender's project. A sender is not notified of its own step. */
async function eventTarget(
  db: Reader,
  { senderId, projectId }: MailMessage,
  caller: Caller,
): Promise<{ projectId: string; audience: string[]; routing?: Routing }> {
  if (senderId === gatewayId || senderId === caller.id) return { projectId, audience: [] }
  if (senderId === operatorId) return { projectId, audience: [senderId] }
  const sender = await findAgentById(db, senderId)
  if (!sender) return { projectId, audience: [] }
  const routing = policiesOf([{ id: senderId, wakePolicy: sender.defaultWakePolicy }])
  return { projectId: sender.projectId, audience: [senderId], routing }
}

interface StatusChange {
  readonly message: MailMessage
  /** The recipient, with its name in the project of the event: `@donna`, or `web:@donna` of another project. */
  readonly recipient: { readonly id: string; readonly identity: string }
  readonly previousStatus: MessageStatus
  readonly status: ReportableStatus
  readonly changedAt: number
}

function statusChanged(change: StatusChange, audience: readonly string[], routing: Routing = {}): NewEvent {
  const { message, recipient, previousStatus, status, changedAt } = change
  const { id, threadId, subject, priority, taggedConcepts, inReplyTo, taskId } = message
  return {
    type: `message.${status}`,
    actor: recipient.identity,
    actorId: recipient.id,
    audience,
    data: {
      messageId: id,
      threadId,
      subject,
      recipient: recipient.identity,
      previousStatus,
      status,
      changedAt: new Date(changedAt).toISOString(),
      priority,
      taggedConcepts,
      isReplyTo: inReplyTo,
      ...(taskId === null ? {} : { taskId }),
      ...(routing.policies ? { routing } : {}),
    },
  }
}

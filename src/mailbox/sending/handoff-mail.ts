import { cutLine } from '../../lib/words.ts'
import type { SendHandoffMail } from '../../registry/mail/handoff-mail.ts'
import type { MailContext } from '../context.ts'
import { bytesOfMail } from '../messages/mail-bytes.ts'
import { putMail } from '../messages/put-mail.ts'

const subjectMax = 200

/**
 * Makes the function that sends the mail of a handoff. The mail has the limits of any other, because two agents may hand work back
 * and forth without end, and its bytes are its sender's. Refusals: `rate-limited`, `storm-breaker`, `recipient-storm`. Source: S4-7.
 */
export function createHandoffMail(context: MailContext): SendHandoffMail {
  return async (tx, { sender, recipient, projectId, ref, body }, take) => {
    context.usage.requireRoom(sender)
    await take(tx, { peer: { id: recipient.id, identity: recipient.handle } })
    const session = await context.findSession(tx, recipient.id)
    const { message, events } = await putMail(tx, {
      projectId,
      from: sender.identity,
      senderId: sender.id,
      person: sender.name ?? null,
      address: recipient.handle,
      subject: cutLine(`Handed over to you: ${ref}`, subjectMax),
      body,
      type: 'handoff',
      ref,
      wakePolicy: recipient.defaultWakePolicy,
      recipients: [{ id: recipient.id, wakePolicy: recipient.defaultWakePolicy }],
      sessionId: session?.id,
      routed: session !== undefined,
    })
    context.usage.add(tx, sender, bytesOfMail(message))
    return { messageId: message.id, events }
  }
}

import { cutLine } from '../../lib/words.ts'
import type { SendHandoffMail } from '../../registry/mail/handoff-mail.ts'
import type { Usage } from '../../registry/shares/usage.ts'
import type { FindSession } from '../delivery/live-session.ts'
import { checkLimits, type LimitsContext } from '../limits/check-limits.ts'
import { perMinuteFor } from '../limits/mail-limits.ts'
import { bytesOfMail } from '../messages/mail-bytes.ts'
import { putMail } from '../messages/put-mail.ts'

const subjectMax = 200

interface HandoffMailContext extends LimitsContext {
  readonly findSession: FindSession
  readonly usage: Pick<Usage, 'requireRoom' | 'add'>
}

/**
 * Makes the function that sends the mail of a handoff. The mail has the limits of any other, because two agents may hand work back
 * and forth without end, and its bytes are its sender's. Refusals: `rate-limited`, `storm-breaker`, `recipient-storm`. Source: S4-7.
 */
export function createHandoffMail(context: HandoffMailContext): SendHandoffMail {
  return async (tx, { sender, recipient, projectId, ref, body }) => {
    context.usage.requireRoom(sender)
    if (sender.kind !== 'operator') {
      const limits = { ...context.limits, perMinute: perMinuteFor(sender, context.limits) }
      const peer = { id: recipient.id, identity: recipient.handle }
      const sending = { senderId: sender.id, from: sender.identity, peer, recipients: 1 }
      // The project's first: it refuses without a query, and then nothing of the sender's rate is used.
      const refusal =
        context.projectSends.refuse(sender, context.limits) ?? (await checkLimits(tx, { ...context, limits }, sending))
      if (refusal) return refusal
    }
    const session = await context.findSession(tx, recipient.id)
    const { message, events } = await putMail(tx, {
      projectId,
      from: sender.identity,
      senderId: sender.id,
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
    context.projectSends.countOnCommit(tx, sender, context.limits)
    return { messageId: message.id, events }
  }
}

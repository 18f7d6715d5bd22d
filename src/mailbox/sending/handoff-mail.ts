import { cutText } from '../../lib/cut-text.ts'
import type { NewEvent } from '../../log/event.ts'
import type { Agent } from '../../registry/agents/agent.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { Transaction } from '../../storage/database.ts'
import type { FindSession } from '../delivery/live-session.ts'
import { checkLimits } from '../limits/check-limits.ts'
import { type MailLimits, perMinuteFor } from '../limits/mail-limits.ts'
import { putMail } from '../messages/put-mail.ts'

/** Work that changes hands, in words. */
export interface HandOver {
  readonly sender: Caller
  readonly recipient: Agent
  readonly projectId: string
  readonly ref: string
  /** What the next owner should know. */
  readonly body: string | null
}

const subjectMax = 200

/**
 * Makes the mail that goes with work that changes hands, within the transaction of that change: both happen, or neither.
 * Answers the events to append. Handing back and forth is writing to each other, with the same limits: `rate-limited`,
 * `storm-breaker`, `recipient-storm`. Source: S4-7.
 */
export function createHandOverMail(context: { limits: MailLimits; findSession: FindSession }) {
  return async (tx: Transaction, handOver: HandOver): Promise<{ messageId: string; events: NewEvent[] }> => {
    const { sender, recipient, projectId, ref, body } = handOver
    if (sender.kind !== 'operator') {
      const limits = { ...context.limits, perMinute: perMinuteFor(sender, context.limits) }
      const peer = { id: recipient.id, identity: recipient.handle }
      const refusal = await checkLimits(tx, limits, { senderId: sender.id, from: sender.identity, peer })
      if (refusal) throw refusal.problem
    }
    const session = await context.findSession(tx, recipient.id)
    const { message, events } = await putMail(tx, {
      projectId,
      from: sender.identity,
      senderId: sender.id,
      senderSession: null,
      address: recipient.handle,
      broadcast: false,
      subject: cutText(`Handed over to you: ${ref}`, subjectMax),
      body,
      type: 'handoff',
      signalType: null,
      payload: null,
      ref,
      taskId: null,
      taskSeq: null,
      priority: 'normal',
      wakePolicy: recipient.defaultWakePolicy,
      taggedConcepts: [],
      inReplyTo: null,
      threadId: null,
      recipients: [{ id: recipient.id, wakePolicy: recipient.defaultWakePolicy }],
      sessionId: session?.id ?? null,
      routed: session !== undefined,
    })
    return { messageId: message.id, events }
  }
}

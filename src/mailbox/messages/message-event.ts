import type { NewEvent } from '../../log/event.ts'
import type { WakePolicy } from '../../words/policies.ts'
import type { MailMessage } from './message.ts'

/** The fields of a message that its event has. */
export type AnnouncedMail = Pick<
  MailMessage,
  | 'id'
  | 'senderId'
  | 'subject'
  | 'priority'
  | 'wakePolicy'
  | 'taggedConcepts'
  | 'inReplyTo'
  | 'threadId'
  | 'taskId'
  | 'broadcast'
  | 'type'
  | 'signalType'
>

interface Announced {
  readonly wakePolicy?: WakePolicy
  /** The ids of recipients that poll for their next mail. */
  readonly followed?: readonly string[]
}

/** The event of a message: a pointer, never its content. Source: S1-24. */
export function messageSent(
  message: AnnouncedMail,
  from: string,
  audience: readonly string[],
  { wakePolicy = message.wakePolicy, followed = [] }: Announced = {},
): NewEvent {
  const { id, subject, priority, taggedConcepts, inReplyTo, threadId, taskId } = message
  return {
    type: 'message.sent',
    actor: from,
    ...(message.senderId === null ? {} : { actorId: message.senderId }),
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
      ...(followed.length === 0 ? {} : { routing: { followed } }),
    },
  }
}

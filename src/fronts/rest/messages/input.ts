import { z } from 'zod'
import { sizeLimits } from '../../../limits.ts'
import { mailWaitMax, messageTypes, reportableStatuses } from '../../../words/mail.ts'
import { priorities, wakePolicies } from '../../../words/policies.ts'
import { notAPageToken } from '../../validate.ts'
import { concepts, count, flag, line, oneOf, text, time } from '../fields.ts'

const payloadMax = sizeLimits.metadata.max

const payload = z
  .record(z.string(), z.unknown(), { error: 'must be an object' })
  .refine((value) => JSON.stringify(value).length <= payloadMax, {
    error: `has more than ${payloadMax} characters as JSON. Store it where the recipient can read it, and name that place in ref.`,
  })

export const newMessage = z.strictObject({
  to: line(200).min(1).optional(),
  subject: line(200).optional(),
  body: text(sizeLimits.mailBody.max).optional(),
  signalType: line(100).min(1).optional(),
  payload: payload.optional(),
  type: oneOf(messageTypes).optional(),
  ref: line(500).min(1).optional(),
  priority: oneOf(priorities).optional(),
  wakePolicy: oneOf(wakePolicies).optional(),
  taggedConcepts: concepts.optional(),
  inReplyTo: line(100).min(1).optional(),
})

export const statusInput = z.strictObject({ status: oneOf(reportableStatuses) })

export const returnsInput = z.strictObject({
  sessionId: line(100).min(1),
  messageIds: z
    .array(line(100).min(1))
    .min(1, 'must name at least one message')
    .max(sizeLimits.items.max, `names at most ${sizeLimits.items.max} messages`),
})

const messageId = line(100).regex(/^MESSAGE:[0-9a-f-]{36}$/, notAPageToken)

const inboxFilters = z.strictObject({
  unread: flag,
  thread: line(100).min(1).optional(),
  signalType: line(100).min(1).optional(),
  type: oneOf(messageTypes).optional(),
  taggedConcept: line(200).min(1).optional(),
  since: time('must be an instant in ISO 8601, e.g. 2026-04-26T10:00:00.000Z').optional(),
  order: oneOf(['oldest', 'newest']).optional(),
  agent: line(110).min(1).optional(),
  limit: count(1, 200).optional(),
  pageToken: messageId.optional(),
})

/** With `waitSeconds` it is another question: what has not been delivered yet. */
export const inboxQuery = inboxFilters
  .extend({ waitSeconds: count(0, mailWaitMax).optional() })
  .refine(({ waitSeconds, ...others }) => waitSeconds === undefined || Object.values(others).every(isAbsent), {
    path: ['waitSeconds'],
    error: 'stands alone: it waits for mail that was not delivered yet. Leave the other fields out.',
  })

function isAbsent(value: unknown): boolean {
  return value === undefined
}

/** A page of a thread, or of the messages that the caller sent. */
export const messageQuery = z.strictObject({ limit: count(1, 200).optional(), pageToken: messageId.optional() })

import { z } from 'zod'
import { newMessage } from '../../rest/messages/input.ts'
import { idempotencyKey } from './fields.ts'
import { acts, tool } from './tool.ts'

const fields = newMessage.shape

/** Mail to one agent or to all. Source: S2-9. */
export const sendMessage = tool({
  name: 'send_message',
  title: 'Send a message',
  description:
    'Sends mail to another agent (to: "@donna"; "web:@donna" in another project), or to everybody in your project (to: "*"). It is kept until they read it, and wakes them if they have a wake subscription. ' +
    'To answer, give inReplyTo the messageId: then to and subject may be left out. To hand out work whose result you want back, use send_task instead. ' +
    'Do not wait for an answer and do not send it again: the answer comes by itself, as pendingSignals with a later result or as a wake.',
  input: z.strictObject({
    to: fields.to.describe('@handle, project:@handle, or * for everybody in your project'),
    subject: fields.subject.describe('One line: what it is about'),
    body: fields.body.describe('The text'),
    inReplyTo: fields.inReplyTo.describe('The messageId that this answers'),
    type: fields.type.describe('What it is; msg unless you say otherwise'),
    signalType: fields.signalType.describe(
      'For programs: ReviewRequested, ReviewCompleted, Acknowledgment, TaskAssigned, StatusUpdate, or a name of your own with a dot or x-',
    ),
    payload: fields.payload.describe('Fields that belong to signalType'),
    ref: fields.ref.describe('What it is about: a path, a commit, a URL, an issue'),
    priority: fields.priority.describe('How important it is. It does not decide about waking'),
    wakePolicy: fields.wakePolicy.describe(
      'immediate wakes now, next_turn waits for their next turn, silent only stores. Leave it out for what the recipient prefers',
    ),
    taggedConcepts: fields.taggedConcepts.describe('Words that subscriptions filter by'),
    idempotencyKey,
  }),
  output: z.looseObject({
    messageId: z.string(),
    threadId: z.string(),
    delivered: z.boolean().describe('A channel has the evidence that every recipient has it'),
    queued: z.boolean().describe('It is kept for a recipient that has not got it yet'),
    resolvedToSession: z.string().nullable(),
    recipients: z.array(z.looseObject({ agent: z.string(), status: z.string(), receipt: z.string() })),
  }),
  annotations: acts,
  say: ({ recipients, queued }) =>
    `Sent to ${recipients.map(({ agent }) => agent).join(', ') || 'nobody: the project has no other agent'}.${queued ? ' It is kept until they have read it.' : ''}`,
  run: ({ rest }, { idempotencyKey: key, ...body }) =>
    rest('POST /v1/messages', { body, ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }) }),
})

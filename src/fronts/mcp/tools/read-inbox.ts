import { z } from 'zod'
import { instantText } from '../../rest/fields.ts'
import { inboxQuery } from '../../rest/messages/input.ts'
import { counted } from './counted.ts'
import { pageSize, pageToken, threadId } from './fields.ts'
import { mailPage } from './mail-view.ts'
import { nextPageToken, shownMessage } from './outputs.ts'
import { reads, tool } from './tool.ts'

const limitDefault = 20
const fields = inboxQuery.shape

/** Source: S4-9. */
export const readInbox = tool({
  name: 'read_inbox',
  title: 'Read the inbox',
  description:
    'Lists your mail: unread mail, oldest first, unless you ask for more. Use it at the start of a session, when you are woken, and when your user asks about messages. ' +
    'Reading changes nothing: report each message with mark_message once you have read it (seen), taken it on (acked) or done it (resolved), else it stays unread, and may come once more as pendingSignals. ' +
    'Mail with a taskId belongs to a task: read that with get_task. Answer with send_message and inReplyTo.',
  input: z.strictObject({
    unread: z.boolean().describe('false: all mail, newest first. Usually true').optional(),
    thread: threadId.optional(),
    signalType: fields.signalType.describe('Only mail with this signalType'),
    type: fields.type.describe('Only mail of this type'),
    taggedConcept: fields.taggedConcept.describe('Only mail with this among its taggedConcepts'),
    since: instantText('must be an instant in ISO 8601, e.g. 2026-04-26T10:00:00.000Z')
      .describe('Only mail from this instant on, in ISO 8601')
      .optional(),
    order: fields.order.describe('oldest first is usual for unread mail, newest first for all mail'),
    agent: fields.agent.describe(
      'The inbox of another agent, which has granted you CAN_READ_INBOX_OF. Usually left out',
    ),
    limit: pageSize(50, limitDefault),
    pageToken,
  }),
  output: z.looseObject({ messages: z.array(shownMessage), nextPageToken }),
  annotations: reads,
  quotes: true,
  say: ({ messages, nextPageToken: next }) => {
    if (messages.length === 0) return 'No mail matches.'
    const more = next === undefined ? '' : ' There is more: call again with nextPageToken as pageToken.'
    return `${counted(messages.length, 'message')}.${more} Report each with mark_message.`
  },
  run: async ({ rest }, { unread = true, limit = limitDefault, ...query }) =>
    mailPage(await rest('GET /v1/inbox', { query: { ...query, limit, unread: unread ? 'true' : 'false' } })),
})

import { z } from 'zod'
import { Problem } from '../../../errors.ts'
import { shownText } from '../../../lib/words.ts'
import type { AskApi } from '../ask-api.ts'
import { cutToBytes } from '../shown-json.ts'
import { messageId, pageSize, pageToken, threadId } from './fields.ts'
import { mailFields, mailPage } from './mail-view.ts'
import { nextPageToken, shownMessage } from './outputs.ts'
import { reads, tool } from './tool.ts'

const limitDefault = 20
/** The most of one body in one result. */
const bodyBytes = 24_000

export const readThread = tool({
  name: 'read_thread',
  title: 'Read a thread',
  description:
    'Shows a conversation, oldest message first, with how far its recipients are (status). Give threadId. Or give messageId for one message with its whole body, when a result cut it: a very long body comes in pieces, continue with bodyFrom.',
  input: z.strictObject({
    threadId: threadId.optional(),
    messageId: messageId.optional(),
    bodyFrom: z.int().min(0).max(1_000_000).describe('With messageId: skip so many characters of the body').optional(),
    limit: pageSize(50, limitDefault),
    pageToken,
  }),
  output: z.looseObject({
    threadId: z.string(),
    messages: z.array(shownMessage),
    nextPageToken,
    bodyContinuesAt: z.int().optional().describe('The body goes on: call again with this as bodyFrom'),
  }),
  annotations: reads,
  quotes: true,
  say: ({ messages, bodyContinuesAt }) =>
    bodyContinuesAt === undefined
      ? `${messages.length} message${messages.length === 1 ? '' : 's'}.`
      : `A part of the body: call again with bodyFrom ${bodyContinuesAt} for the next part.`,
  run: async (api, { threadId: thread, messageId: id, bodyFrom = 0, limit = limitDefault, pageToken: after }) => {
    if (id !== undefined) return readOne(api, id, bodyFrom)
    if (thread === undefined) {
      throw new Problem('invalid-request', {
        field: 'threadId',
        detail: 'threadId: give threadId for a conversation, or messageId for one message.',
      })
    }
    const page = await api.rest('GET /v1/threads/:id', { params: { id: thread }, query: { limit, pageToken: after } })
    return { threadId: page.threadId, ...mailPage(page) }
  },
})

async function readOne({ rest }: AskApi, id: string, from: number) {
  const message = await rest('GET /v1/messages/:id', { params: { id } })
  const body = shownText(message.body ?? '')
  const { text, isCut } = cutToBytes(body.slice(from), bodyBytes)
  return {
    threadId: message.threadId,
    // The body comes first: a payload is what is cut where there is no room for both.
    messages: [{ body: text, ...mailFields({ ...message, body: null }) }],
    ...(isCut ? { bodyContinuesAt: from + text.length } : {}),
  }
}

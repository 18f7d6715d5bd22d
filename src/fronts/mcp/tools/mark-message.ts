import { z } from 'zod'
import { statusInput } from '../../rest/messages/input.ts'
import { messageId } from './fields.ts'
import { mailFields } from './mail-view.ts'
import { shownMessage } from './outputs.ts'
import { repeats, tool } from './tool.ts'

/** Source: S4-6. */
export const markMessage = tool({
  name: 'mark_message',
  title: 'Mark a message',
  description:
    'Reports how far you are with a message that you received: seen (you have read it), acked (you will act on it), resolved (it is done), superseded (it no longer matters). Its sender sees that, so report only what is true. A status only moves forward, and the same one twice changes nothing.',
  input: z.strictObject({ messageId, status: statusInput.shape.status }),
  output: shownMessage,
  annotations: repeats,
  quotes: true,
  say: ({ subject }) => `Reported. The message: ${subject}`,
  run: async ({ rest }, { messageId: id, status }) => {
    const {
      body: _read,
      recipients: _all,
      ...message
    } = await rest('POST /v1/messages/:id/status', {
      params: { id },
      body: { status },
    })
    return { ...mailFields(message), status }
  },
})

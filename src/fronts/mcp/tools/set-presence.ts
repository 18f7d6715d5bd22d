import { z } from 'zod'
import { presenceInput } from '../../rest/sessions/input.ts'
import { compact } from './compact.ts'
import { repeats, tool } from './tool.ts'

const fields = presenceInput.shape

/** Source: S1-8. */
export const setPresence = tool({
  name: 'set_presence',
  title: 'Set presence',
  description:
    'Reports what you are doing: idle, active, waitingOnApproval or userTyping. It decides whether a message may interrupt you, and others see it. Usually your harness reports it by itself: call this only when your instructions ask for it. A report holds for two minutes.',
  input: z.strictObject({
    state: fields.state,
    activeTurnId: fields.activeTurnId.describe(
      'The id of the running turn, with the state active or waitingOnApproval',
    ),
    capabilities: fields.capabilities.describe('What you can do, e.g. has-telegram'),
  }),
  output: z.looseObject({ sessionId: z.string(), state: z.string(), capabilities: z.array(z.string()).optional() }),
  annotations: repeats,
  say: ({ state }) => `You are ${state}.`,
  run: async ({ rest }, report) =>
    compact(await rest('PUT /v1/presence', { body: { ...report, source: 'mcp-client' } })),
})

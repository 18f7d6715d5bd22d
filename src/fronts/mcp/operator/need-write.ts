import { z } from 'zod'
import { instantText } from '../../rest/fields.ts'
import { snoozeInput } from '../../rest/needs/input.ts'
import { type Actions, checkAction } from '../tools/actions.ts'
import { compact } from '../tools/compact.ts'
import { repeats } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'

const actions = {
  snooze: { needs: ['need', 'until'], takes: [] },
  unsnooze: { needs: ['need'], takes: [] },
} as const satisfies Actions<string>

export const needWrite = operatorTool({
  name: 'need_write',
  scopes: ['read', 'work'],
  title: 'Put a need off',
  description:
    'Snoozes a need, for all operators of the project. snooze: operators are not notified of the need before the time in until, unless it becomes worse. needs_read still lists it, with snoozedUntil. unsnooze: ends the snooze. This repairs nothing: the agent or the sender still waits.',
  input: z.strictObject({
    action: z.enum(['snooze', 'unsnooze']),
    need: snoozeInput.shape.need.describe('The id that needs_read shows'),
    until: instantText().describe('With snooze: an instant in ISO 8601, at most 30 days ahead').optional(),
  }),
  output: z.looseObject({ action: z.string(), need: z.string(), snoozedUntil: z.string().optional() }),
  annotations: repeats,
  say: ({ need, snoozedUntil }) =>
    snoozedUntil === undefined ? `${need} is not put off.` : `${need}: ${snoozedUntil}.`,
  run: async ({ rest }, given) => {
    checkAction(given, actions)
    const { action, need, until = null } = given
    return compact({ action, ...(await rest('POST /v1/needs/snooze', { body: { need, until } })) })
  },
})

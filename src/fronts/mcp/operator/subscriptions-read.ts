import { z } from 'zod'
import { address, line } from '../../rest/fields.ts'
import { compact } from '../tools/compact.ts'
import { counted } from '../tools/counted.ts'
import { pageSize, pageToken } from '../tools/fields.ts'
import { nextPageToken } from '../tools/outputs.ts'
import { reads } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'

const limitDefault = 50
const heldShown = 20

export const subscriptionId = line(100).min(1).describe('WAKE_SUB:…')

export const subscriptionsRead = operatorTool({
  name: 'subscriptions_read',
  scopes: ['read'],
  title: 'Wake subscriptions',
  description:
    'Lists the wake subscriptions of the project or of one agent: what wakes whom, where to, and whether it works. status active works, unless retrying says that its receiver is away; waiting: nothing is connected to its channel; paused and degraded: reason says why, and subscription_write with activate starts it again. With subscriptionId only one, and in held the newest events that it did not send, each with the reason.',
  input: z.strictObject({
    agent: address.describe('Only those of this agent: @donna').optional(),
    subscriptionId: subscriptionId.describe('Only this one: WAKE_SUB:…').optional(),
    limit: pageSize(100, limitDefault),
    pageToken,
  }),
  output: z.looseObject({
    subscriptions: z.array(
      z.looseObject({
        subscriptionId: z.string(),
        agentIdentity: z.string(),
        trigger: z.string(),
        harnessTarget: z.string(),
        status: z.string(),
        reason: z.string().optional(),
        cursorLogId: z.int().describe('Events up to this logId are dealt with'),
      }),
    ),
    held: z
      .array(z.looseObject({ logId: z.int(), action: z.string(), reason: z.string() }))
      .optional()
      .describe('Newest first. wait: it is sent later; the others are not sent'),
    nextPageToken,
  }),
  annotations: reads,
  quotes: true,
  say: ({ subscriptions }) => `${counted(subscriptions.length, 'subscription')}.`,
  run: async ({ rest }, { limit = limitDefault, ...query }) => {
    const page = await rest('GET /v1/wake-subscriptions', { query: { limit, ...query } })
    const { subscriptionId: id } = query
    const unsent =
      id === undefined
        ? {}
        : await rest('GET /v1/wake-subscriptions/:id/held', { params: { id }, query: { limit: heldShown } })
    return {
      subscriptions: page.subscriptions.map(compact),
      ...('held' in unsent ? { held: unsent.held } : {}),
      ...(page.nextPageToken === '' ? {} : { nextPageToken: page.nextPageToken }),
    }
  },
})

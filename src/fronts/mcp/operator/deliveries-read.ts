import { z } from 'zod'
import { deliveriesQuery } from '../../rest/deliveries/input.ts'
import { address, instantText } from '../../rest/fields.ts'
import { compact } from '../tools/compact.ts'
import { counted } from '../tools/counted.ts'
import { pageSize, pageToken } from '../tools/fields.ts'
import { nextPageToken } from '../tools/outputs.ts'
import { reads } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'
import { subscriptionId } from './subscriptions-read.ts'

const limitDefault = 20
/** The newest attempts and reports of one wake. */
const stepsShown = 5

export const deliveriesRead = operatorTool({
  name: 'deliveries_read',
  scopes: ['read'],
  title: 'Deliveries of wakes',
  description:
    'Lists the wakes that were sent or tried, over all subscriptions, newest first: where to, how often, what the receiver answered, and what its reader has reported. outcome failed: given up or refused; retrying: tried again at nextAttemptAt. subscription_write with replay sends one again by its eventId.',
  input: z.strictObject({
    agent: address.describe('Only those to this agent: @donna').optional(),
    subscriptionId: subscriptionId.describe('Only those of this subscription').optional(),
    outcome: deliveriesQuery.shape.outcome.describe('Only those with this outcome'),
    endedAfter: instantText().describe('Only those that ended after this instant, in ISO 8601').optional(),
    endedBefore: instantText().describe('Only those that ended before it').optional(),
    limit: pageSize(50, limitDefault),
    pageToken,
  }),
  output: z.looseObject({
    deliveries: z.array(
      z.looseObject({
        eventId: z.string(),
        subscriptionId: z.string(),
        agent: z.string(),
        eventType: z.string(),
        outcome: z.string(),
        tries: z.int(),
        attempts: z.array(z.looseObject({})).optional().describe(`The newest ${stepsShown}, oldest first`),
        logIds: z.array(z.int()).describe('The event, or the first and the last one of a digest'),
      }),
    ),
    nextPageToken,
  }),
  annotations: reads,
  quotes: true,
  say: ({ deliveries, nextPageToken: next }) =>
    // A page has what was found in a part of the record: there may be more behind an empty one.
    `${deliveries.length === 0 ? 'No delivery matches' : counted(deliveries.length, 'wake')}${next === undefined ? '' : ' so far: go on with nextPageToken'}.`,
  run: async ({ rest }, { subscriptionId: subscription, limit = limitDefault, ...query }) => {
    const page = await rest('GET /v1/deliveries', { query: { ...query, subscription, limit } })
    return {
      deliveries: page.deliveries.map(({ attempts, steps = [], ...delivery }) => ({
        ...compact(delivery),
        tries: attempts.length,
        ...compact({ attempts: attempts.slice(-stepsShown), steps: steps.slice(-stepsShown) }),
      })),
      ...(page.nextPageToken === '' ? {} : { nextPageToken: page.nextPageToken }),
    }
  },
})

import { z } from 'zod'
import { Problem } from '../../../errors.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { instantText, line } from '../../rest/fields.ts'
import type { AskApi } from '../ask-api.ts'
import { type Actions, checkAction } from '../tools/actions.ts'
import { compact } from '../tools/compact.ts'
import { counted } from '../tools/counted.ts'
import { reachesOut } from '../tools/tool.ts'
import { operatorTool } from './operator-tool.ts'
import { subscriptionId } from './subscriptions-read.ts'

const actions = {
  activate: { needs: ['subscriptionId'], takes: [] },
  pause: { needs: ['subscriptionId'], takes: [] },
  resync: { needs: ['subscriptionId', 'sinceLogId'], takes: [] },
  replay: { needs: ['subscriptionId'], takes: ['eventId', 'failedSince'] },
  test: { needs: ['subscriptionId'], takes: [] },
} as const satisfies Actions<string>

const input = z.strictObject({
  action: z.enum(['activate', 'pause', 'resync', 'replay', 'test']),
  subscriptionId,
  sinceLogId: z.int().min(0).describe('With resync: the logId of the last event that its receiver handled').optional(),
  eventId: line(26).min(1).describe('With replay: the delivery to send again, as deliveries_read shows it').optional(),
  failedSince: instantText().describe('With replay: all that failed since this instant, in ISO 8601').optional(),
})

export const subscriptionWrite = operatorTool({
  name: 'subscription_write',
  scopes: ['read', 'manage'],
  title: 'Mend a wake subscription',
  description:
    'Mends a wake subscription. activate: it sends again, and what waits goes as one digest; mend its receiver first, or it fails again. pause: it sends nothing until it is activated; what gathers is kept. resync: sends everything after sinceLogId again. replay: sends a delivery again (eventId), or all that failed since an instant (failedSince); a receiver that had it gets it twice. test: sends a test wake and says what the receiver answered; try it before activate.',
  input,
  output: z.looseObject({
    action: z.string(),
    subscriptionId: z.string(),
    status: z.string().optional(),
    reason: z.string().optional(),
    eventsReplayed: z.int().optional(),
    countedTo: z.int().optional().describe('The log was too long to count all of it: more are sent again'),
    attempt: z.looseObject({}).optional().describe('What the receiver answered to a test'),
    reported: z.looseObject({}).optional().describe('What the reader of a stream said of a test; absent: nothing'),
  }),
  annotations: reachesOut,
  quotes: true,
  say: ({ subscriptionId: id, status, eventsReplayed, attempt }) => {
    if (status !== undefined) return `${id}: ${status}.`
    if (eventsReplayed !== undefined) return `${id}: ${counted(eventsReplayed, 'event')} sent again.`
    return `${id}: ${attempt?.error === undefined ? 'the test was sent' : 'the test failed'}.`
  },
  run: async ({ rest }, given) => {
    checkAction(given, actions)
    const { action, subscriptionId: id } = given
    return compact({ action, subscriptionId: id, ...(await run[action](rest, given)) })
  },
})

type ToolInput = z.output<typeof input>
type Run = (rest: AskApi['rest'], given: ToolInput) => Promise<JsonObject>

const setStatus =
  (status: 'active' | 'paused'): Run =>
  async (rest, { subscriptionId: id }) => {
    const changed = await rest('PATCH /v1/wake-subscriptions/:id', { params: { id }, body: { status } })
    return { status: changed.currentState.status, reason: changed.currentState.reason }
  }

const run: Record<ToolInput['action'], Run> = {
  activate: setStatus('active'),
  pause: setStatus('paused'),
  resync: (rest, { subscriptionId: id, sinceLogId = 0 }) =>
    rest('POST /v1/wake-subscriptions/:id/resync', { params: { id }, body: { sinceLogId } }),
  replay: (rest, given) =>
    rest('POST /v1/wake-subscriptions/:id/replay', { params: { id: given.subscriptionId }, body: replayed(given) }),
  test: (rest, { subscriptionId: id }) => rest('POST /v1/wake-subscriptions/:id/test', { params: { id } }),
}

/** Errors: `invalid-request` unless exactly one of the two is given. */
function replayed({ eventId, failedSince }: ToolInput) {
  if (eventId !== undefined && failedSince === undefined) return { eventId }
  if (eventId === undefined && failedSince !== undefined) return { failedSince }
  throw new Problem('invalid-request', {
    field: 'eventId',
    detail: 'eventId: the action replay needs either eventId or failedSince. Give one of them.',
  })
}

import { z } from 'zod'
import type { JsonObject } from '../../../lib/json.ts'
import type { ChosenTarget } from '../../../words/targets.ts'
import { line } from '../../rest/fields.ts'
import { newSubscription, resyncInput, subscriptionChanges } from '../../rest/wake-subscriptions/input.ts'
import type { AskApi } from '../ask-api.ts'
import { eventTypeOf } from '../wake-events.ts'
import { type Actions, checkAction } from './actions.ts'
import { counted } from './counted.ts'
import { pageToken } from './fields.ts'
import { nextPageToken } from './outputs.ts'
import { reachesOut, tool } from './tool.ts'

const made = ['filters', 'harnessTarget', 'harnessTargetMetadata'] as const
const actions = {
  subscribe: { needs: ['trigger'], takes: [...made, 'startFrom'] },
  unsubscribe: { needs: ['subscriptionId'], takes: [] },
  update: {
    needs: ['subscriptionId'],
    takes: ['trigger', ...made, 'status', 'rotateSigningKey', 'overlapSeconds'],
  },
  list: { needs: [], takes: ['subscriptionId', 'pageToken'] },
  resync: { needs: ['subscriptionId', 'sinceLogId'], takes: [] },
} as const satisfies Actions<string>

const fields = newSubscription.shape
const changes = subscriptionChanges.shape

const input = z.strictObject({
  action: z.enum(['subscribe', 'unsubscribe', 'update', 'list', 'resync']),
  subscriptionId: line(100)
    .min(1)
    .describe('WAKE_SUB:…; needed for unsubscribe, update and resync. With list: only this one')
    .optional(),
  trigger: fields.trigger.describe('What wakes you. SENT_TO_ME: mail. TASK_STATE_CHANGED: your tasks').optional(),
  filters: fields.filters.describe('Wake only for these; every filter that is given must match'),
  harnessTarget: fields.harnessTarget.describe(
    'How the wake travels. a2a-webhook needs harnessTargetMetadata.url; bridge-daemon is read as a stream (rouse listen); mcp-notifications reach only a client over HTTP that has negotiated neo-wake-substrate. Left out: a webhook where there is a url, else this connection where it takes wakes, else none',
  ),
  harnessTargetMetadata: fields.harnessTargetMetadata.describe(
    'url; coalesceWindow: seconds in which events become one digest (0 to 300, usually 30)',
  ),
  sinceLogId: resyncInput.shape.sinceLogId
    .describe('With resync: the logId of the last wake that you handled')
    .optional(),
  status: changes.status.describe('With update: active ends degraded and paused, paused stops the wakes'),
  rotateSigningKey: changes.rotateSigningKey.describe('With update: make a new signing key'),
  overlapSeconds: changes.overlapSeconds.describe('With rotateSigningKey: how long the old key signs too'),
  startFrom: fields.startFrom.describe('With subscribe: now leaves out what waits already'),
  pageToken,
})

/** The five actions on wake subscriptions. Source: S1-43, S1-44. */
export const manageWakeSubscription = tool({
  name: 'manage_wake_subscription',
  title: 'Manage wake subscriptions',
  description:
    'Decides when and how your harness is woken. subscribe: returns subscriptionId and, for a webhook, the signingKey, which is shown once. list: what there is and whether it works (status degraded, waiting or paused: it does not; reason says why). update: change it, or status active to start it again. resync: have everything after sinceLogId sent again. unsubscribe: remove it. ' +
    'Usually the program that started you has subscribed for you: look with list before you subscribe. A subscription that belongs to your session (sessionId) is paused when that ends.',
  input,
  output: z.looseObject({
    subscriptionId: z.string().optional(),
    harnessTarget: z.string().optional(),
    signingKey: z.string().optional().describe('Keep it secret. It is not shown again'),
    status: z.string().optional(),
    currentState: z.looseObject({ status: z.string() }).optional(),
    subscriptions: z.array(z.looseObject({ subscriptionId: z.string(), status: z.string() })).optional(),
    eventsReplayed: z.int().optional(),
    lastLogId: z.int().optional(),
    countedTo: z.int().optional().describe('Present if the log was too long to count all of it: more are sent again'),
    nextPageToken,
  }),
  annotations: reachesOut,
  say: ({ subscriptions, subscriptionId, status, currentState, eventsReplayed, countedTo, harnessTarget = 'none' }) => {
    if (subscriptions)
      return subscriptions.length === 0
        ? 'You have no subscriptions.'
        : `${counted(subscriptions.length, 'subscription')}.`
    if (eventsReplayed !== undefined)
      return countedTo === undefined
        ? `Sent again: ${counted(eventsReplayed, 'event')}.`
        : `Sent again: ${counted(eventsReplayed, 'event')} up to logId ${countedTo}, and what follows.`
    const known = status ?? currentState?.status
    return known === undefined
      ? `${subscriptionId}: subscribed. ${hints[harnessTarget as ChosenTarget]}`
      : `${subscriptionId}: ${known}.`
  },
  run: async (api, given, { wakes }) => {
    checkAction(given, actions)
    return run[given.action](api, { harnessTarget: defaultTarget(given, wakes), ...given })
  },
})

type ToolInput = z.output<typeof input>

const nothingIsSent = 'It sends nothing: choose a harnessTarget with the action update.'

/** The next step that a new subscription needs before it wakes. */
const hints: Readonly<Record<ChosenTarget, string>> = {
  'a2a-webhook': 'The action list shows whether its wakes arrive.',
  'bridge-daemon': 'It waits until something reads its stream, e.g. rouse listen.',
  'mcp-notifications': 'It waits until a client that has negotiated neo-wake-substrate is connected: see list.',
  disabled: nothingIsSent,
  none: nothingIsSent,
}

/** A client that takes these wakes over its session gets them there, unless it names an address. Source: S1-4, S1-28. */
function defaultTarget(
  { action, trigger, harnessTargetMetadata }: ToolInput,
  wakes: ReadonlySet<string>,
): ToolInput['harnessTarget'] {
  const isTaken = trigger !== undefined && wakes.has(eventTypeOf(trigger))
  return action === 'subscribe' && isTaken && harnessTargetMetadata?.url === undefined ? 'mcp-notifications' : undefined
}

const run: Record<ToolInput['action'], (api: AskApi, given: ToolInput) => Promise<JsonObject>> = {
  subscribe: ({ rest }, { trigger, filters, harnessTarget, harnessTargetMetadata, startFrom }) =>
    rest('POST /v1/wake-subscriptions', {
      body: { trigger: trigger!, filters, harnessTarget, harnessTargetMetadata, startFrom },
    }),
  unsubscribe: ({ rest }, { subscriptionId: id = '' }) => rest('DELETE /v1/wake-subscriptions/:id', { params: { id } }),
  update: (
    { rest },
    { action: _action, subscriptionId: id = '', sinceLogId: _, startFrom: __, pageToken: ___, ...body },
  ) => rest('PATCH /v1/wake-subscriptions/:id', { params: { id }, body }),
  list: async ({ rest }, { subscriptionId, pageToken: after }) => {
    const query = { limit: 50, subscriptionId, pageToken: after }
    const { subscriptions, nextPageToken: next } = await rest('GET /v1/wake-subscriptions', { query })
    return { subscriptions, ...(next === '' ? {} : { nextPageToken: next }) }
  },
  resync: ({ rest }, { subscriptionId: id = '', sinceLogId = 0 }) =>
    rest('POST /v1/wake-subscriptions/:id/resync', { params: { id }, body: { sinceLogId } }),
}

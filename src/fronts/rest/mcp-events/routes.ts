import { z } from 'zod'
import { revoked } from '../../../identity/open-calls.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { sizeLimits } from '../../../limits.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { choiceOf, eventTypesFor, requireEventType } from '../../../subscriptions/mcp/choice.ts'
import { unsubscribeFromEvents } from '../../../subscriptions/mcp/end.ts'
import { type Polled, pollEvents } from '../../../subscriptions/mcp/poll.ts'
import { type McpSubscribed, subscribeToEvents } from '../../../subscriptions/mcp/subscribe.ts'
import type { McpEventChoice, McpEventName } from '../../../words/mcp-events.ts'
import { parse } from '../../validate.ts'
import { line } from '../fields.ts'
import { route } from '../route.ts'
import { argumentSchemas, dataSchemas, descriptions } from './arguments.ts'

/** A type of events that the caller may subscribe to. */
export interface EventTypeView {
  readonly name: McpEventName
  readonly description: string
  readonly delivery: readonly ('webhook' | 'poll' | 'push')[]
  /** JSON Schema of the arguments. */
  readonly inputSchema: JsonObject
  /** JSON Schema of the data. */
  readonly payloadSchema: JsonObject
}

const pollMax = { events: 100, timeoutMs: 25_000 }
/** A number that is cut to what is possible. */
const wish = (maximum: number, error: string) => z.number().min(0, error).meta({ maximum }).optional()
const age = z.int().min(0, 'is milliseconds, 0 or more').optional()
/** Any text: one that is not ours begins with the oldest event, and is no error. */
const cursor = z.string().meta({ maxLength: 200 }).nullable().optional()
const chosen = { name: line(100).min(1), arguments: z.record(z.string(), z.unknown()).optional() }
const url = line(sizeLimits.url.max).min(1)
const newEventSubscription = z.strictObject({
  ...chosen,
  url,
  secret: line(200),
  cursor,
  maxAgeMs: age,
  ttlMs: z.number().max(Number.MAX_SAFE_INTEGER).nullable().optional(),
})
const endedEventSubscription = z.strictObject({ ...chosen, url })
const poll = z.strictObject({
  ...chosen,
  cursor,
  maxAgeMs: age,
  maxEvents: wish(pollMax.events, 'is the number of events, 0 or more'),
  timeoutMs: wish(pollMax.timeoutMs, 'is milliseconds, 0 or more'),
})

/** `/v1/event-types`, `/v1/event-subscriptions`: the events of MCP, for its front and for whoever wants them over HTTP. */
export const mcpEventRoutes = [
  route('GET /v1/event-types', {
    name: 'event_type.list',
    what: 'list event types',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    handle: async ({ caller }) => ({ eventTypes: eventTypesFor(caller).map(eventTypeView) }),
  }),
  route('POST /v1/event-types/poll', {
    name: 'event_type.poll',
    what: 'read events of a type',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    body: poll,
    handle: async ({ caller, body, untilGone, slot }, context): Promise<Polled> => {
      const { admission, openCalls, stopping } = context
      const maxEvents = Math.floor(Math.min(pollMax.events, body.maxEvents ?? pollMax.events))
      const timeoutMs = Math.floor(Math.min(pollMax.timeoutMs, body.timeoutMs ?? 0))
      const { maxAgeMs } = body
      const input = { choice: choiceIn(caller, body), cursor: body.cursor ?? null, maxAgeMs, maxEvents, timeoutMs }
      using openCall = openCalls.open(caller, timeoutMs > 0 ? 'blockingCalls' : undefined)
      const polled = await pollEvents(context, caller, input, {
        signal: untilGone(stopping, openCall.signal),
        spend: () => admission.spend(caller, 'heavyPerMinute', 'poll'),
        waits: () => slot.release(),
      })
      if (openCall.signal.aborted) throw revoked()
      return polled
    },
  }),
  route('POST /v1/event-subscriptions', {
    name: 'event_subscription.make',
    what: 'subscribe to events',
    access: { scope: 'manage', operator: 'any', agent: 'own', peer: 'never', audited: 'soon' },
    body: newEventSubscription,
    handle: async ({ caller, body, untilGone, slot }, context): Promise<McpSubscribed> => {
      const { subscriptions, admission, stopping } = context
      const { secret, maxAgeMs, ttlMs } = body
      const input = {
        choice: choiceIn(caller, body),
        url: body.url,
        secret,
        cursor: body.cursor ?? null,
        maxAgeMs,
        ttlMs,
      }
      return subscribeToEvents(subscriptions, caller, input, {
        spend: () => admission.spend(caller, 'heavyPerMinute', 'challenge'),
        untilGone: () => {
          slot.release()
          return untilGone(stopping)
        },
      })
    },
  }),
  route('POST /v1/event-subscriptions/end', {
    name: 'event_subscription.end',
    what: 'unsubscribe from events',
    access: { scope: 'manage', operator: 'any', agent: 'own', peer: 'never', audited: 'soon' },
    body: endedEventSubscription,
    handle: async ({ caller, body }, { subscriptions }): Promise<{ readonly status: 'removed' }> => {
      await unsubscribeFromEvents(subscriptions, caller, { choice: choiceIn(caller, body), url: body.url })
      return { status: 'removed' }
    },
  }),
] as const

function choiceIn(caller: Caller, body: { readonly name: string; readonly arguments?: unknown }): McpEventChoice {
  const name = requireEventType(caller, body.name)
  const { arguments: given } = parse(z.object({ arguments: argumentSchemas[name] }), {
    arguments: body.arguments ?? {},
  })
  return choiceOf(caller, name, withoutAbsent(given))
}

function withoutAbsent<Fields extends object>(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Fields
}

const views = new Map<McpEventName, EventTypeView>()

function eventTypeView(name: McpEventName): EventTypeView {
  const known = views.get(name)
  if (known) return known
  const view: EventTypeView = {
    name,
    description: descriptions[name],
    delivery: ['webhook', 'poll', 'push'],
    inputSchema: schemaOf(argumentSchemas[name], 'input'),
    payloadSchema: schemaOf(dataSchemas[name], 'output'),
  }
  views.set(name, view)
  return view
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): JsonObject {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { target: 'draft-2020-12', io })
  return made as JsonObject
}

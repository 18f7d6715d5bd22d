import { type McpServer, ProtocolError, ProtocolErrorCode, type ServerContext } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { isJsonObject, type JsonObject } from '../../../lib/json.ts'
import type { Polled } from '../../../subscriptions/mcp/poll.ts'
import type { McpEventCodes } from '../../../words/mcp-events.ts'
import { createAskApi } from '../ask-api.ts'
import type { CallApi } from '../call-api.ts'
import { mcpCallOf } from '../mcp-call.ts'
import { eventError, invalidParams, toEventError } from './errors.ts'
import { streamEvents } from './stream.ts'

/** The methods of the extension `io.modelcontextprotocol/events`. */
export const eventMethods: ReadonlySet<string> = new Set([
  'events/list',
  'events/subscribe',
  'events/unsubscribe',
  'events/poll',
  'events/stream',
])

/** Without mail: nobody would read it in these answers. */
const headers = { 'rouse-pending-signals': 'none' }
const anyParams = z.looseObject({}).optional()

/** One call of the API for a request. */
type Ask = ReturnType<typeof createAskApi>['request']

/**
 * Has a server answer the methods of MCP Events, each by a call of the API: what a caller may, and at what rate, is decided there.
 * Source: SEP-3415; D42.
 */
export function registerEvents({ server }: McpServer, call: CallApi, codes: McpEventCodes): void {
  const on = (method: string, answer: (params: JsonObject, ask: Ask, context: ServerContext) => Promise<JsonObject>) =>
    server.setRequestHandler(method, { params: anyParams }, async (params, context) => {
      const { request } = createAskApi(call, mcpCallOf(context), context.mcpReq.signal)
      try {
        return await answer(params ?? {}, (asked) => request({ headers, ...asked }), context)
      } catch (error) {
        throw toEventError(codes, error)
      }
    })
  on('events/list', async ({ cursor }, ask) => {
    if (cursor !== undefined && cursor !== null) throw invalidParams('cursor', 'there is one page. Leave it out.')
    const { eventTypes } = await ask({ method: 'GET', path: '/v1/event-types' })
    return { events: eventTypes }
  })
  on('events/subscribe', async (params, ask) => {
    const { ttlMs } = params
    const body = {
      ...chosenIn(params),
      ...deliveryIn(params, codes),
      ...positionIn(params),
      ...(ttlMs === undefined ? {} : { ttlMs }),
    }
    return ask({ method: 'POST', path: '/v1/event-subscriptions', body })
  })
  on('events/unsubscribe', async (params, ask) => {
    const { url } = deliveryIn(params, codes)
    await ask({ method: 'POST', path: '/v1/event-subscriptions/end', body: { ...chosenIn(params), url } })
    return {}
  })
  const poll = async (params: JsonObject, ask: Ask, given: JsonObject): Promise<Polled> => {
    const body = { ...chosenIn(params), ...positionIn(params), ...given }
    return (await ask({ method: 'POST', path: '/v1/event-types/poll', body })) as unknown as Polled
  }
  on('events/poll', async (params, ask) => {
    const { maxEvents, timeoutMs } = params
    const given = {
      ...(maxEvents === undefined ? {} : { maxEvents }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }
    return { ...(await poll(params, ask, given)), nextPollMs }
  })
  on('events/stream', async (params, ask, context) =>
    streamEvents(context, {
      poll: (given) => poll('cursor' in given ? { ...params, maxAgeMs: undefined } : params, ask, given),
      endOf: (error) => endOf(toEventError(codes, error)),
    }),
  )
}

function endOf(error: unknown) {
  const { code, message, data } =
    error instanceof ProtocolError
      ? error
      : new ProtocolError(ProtocolErrorCode.InternalError, 'The stream has failed.')
  return { code, message, ...(data === undefined ? {} : { data }) }
}

/** How long a client waits between two polls, in ms. */
const nextPollMs = 5_000

/** Returns the type and the arguments that a request names, as the API takes them. Errors: -32602. */
function chosenIn({ name, arguments: given }: JsonObject): { name: string; arguments: JsonObject } {
  if (typeof name !== 'string' || name === '') throw invalidParams('name', 'is required: the name of an event type.')
  if (given !== undefined && given !== null && !isJsonObject(given)) {
    throw invalidParams('arguments', 'is an object with the arguments of the event type.')
  }
  return { name, arguments: (given as JsonObject | null | undefined) ?? {} }
}

/** Returns where events are to go. Errors: -32602; Unsupported for another mode than `webhook`. */
function deliveryIn({ delivery }: JsonObject, codes: McpEventCodes): { url: unknown; secret: unknown } {
  if (!isJsonObject(delivery)) throw invalidParams('delivery', 'is required: {mode: "webhook", url, secret}.')
  const { mode, url, secret } = delivery
  if (mode !== undefined && mode !== 'webhook') {
    throw eventError(codes, 'Unsupported', { feature: 'deliveryMode', value: String(mode).slice(0, 100) })
  }
  return { url, secret }
}

const positionFields = ['cursor', 'maxAgeMs'] as const

/** Returns the fields of a request that say where it begins: those that it has. */
function positionIn(params: JsonObject): JsonObject {
  return Object.fromEntries(
    positionFields.flatMap((name) => (params[name] === undefined ? [] : [[name, params[name]]])),
  )
}

import { eventsEnv, secret, startCallback } from '../fronts/mcp/events/rpc.ts'
import { inOffice, type Office } from './exchange.ts'
import { ask, done, plain, rest } from './rest-requests.ts'
import { together } from './together.ts'

interface Scene extends Office {
  /** Of a receiver that sends challenges back. */
  readonly url: string
}

const choice = { name: 'mail.received', arguments: { from: ['@lola'] } }
const _meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'example', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A request of MCP in the protocol version without sessions. */
const method = (folder: string, shows: string, name: string, paramsOf: (scene: Scene) => object) =>
  rest<Scene>(`mcp/${folder}`, shows, (scene) => ({
    ...ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: name, params: { ...paramsOf(scene), _meta } }, scene.donna),
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': name,
    },
  }))

export const mcpEventCases = together<Scene>(
  (play) =>
    inOffice(async (office) => {
      await using callback = await startCallback()
      await play({ ...office, url: callback.url })
    }, eventsEnv),
  [
    rest('events-of-mcp/types', 'The types of events that an agent may subscribe to.', ({ donna }) =>
      plain('GET /v1/event-types', donna),
    ),
    rest('events-of-mcp/subscribe', 'The receiver has sent its challenge back.', ({ donna, url }) =>
      plain('POST /v1/event-subscriptions', donna, { callback: url }),
    ),
    rest('events-of-mcp/subscribed', 'The same subscription among those of its agent.', ({ donna }) =>
      plain('GET /v1/wake-subscriptions', donna),
    ),
    rest('events-of-mcp/poll', 'An event of the log as a poll has it.', async ({ gateway, donna, lola }) => {
      const { cursor } = await done(gateway, ask('POST', '/v1/event-types/poll', choice, donna))
      await done(gateway, ask('POST', '/v1/messages', { to: '@donna', subject: 'Lunch?' }, lola))
      return ask('POST', '/v1/event-types/poll', { ...choice, cursor }, donna)
    }),
    rest('events-of-mcp/end', 'The client wants no more.', ({ donna, url }) =>
      plain('POST /v1/event-subscriptions/end', donna, {
        callback: url,
      }),
    ),
    rest('events-of-mcp/not-verified', 'Nobody answers the challenge.', ({ donna }) =>
      ask('POST', '/v1/event-subscriptions', { ...choice, url: 'http://127.0.0.1:9/', secret }, donna),
    ),
    method('events-list', 'The event types in MCP.', 'events/list', () => ({})),
    method('events-subscribe', 'A subscription over MCP.', 'events/subscribe', ({ url }) => ({
      ...choice,
      delivery: { mode: 'webhook', url, secret },
      cursor: null,
    })),
    method('events-poll', 'The first poll says where it begins.', 'events/poll', () => choice),
    method('events-unsubscribe', 'The end of a subscription over MCP.', 'events/unsubscribe', ({ url }) => ({
      ...choice,
      delivery: { mode: 'webhook', url },
    })),
    method('events-refused', 'A type that there is not for this agent.', 'events/subscribe', ({ url }) => ({
      name: 'no.such_type',
      delivery: { mode: 'webhook', url, secret },
    })),
  ],
)

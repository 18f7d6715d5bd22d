import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { LoggingMessageNotificationSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import type { TestAgent, TestGateway } from '../../../support/gateway.ts'

type Mode = 'legacy' | 'auto' | '2026-07-28'

const info = { name: 'test', version: '1' }
const addressOf = (gateway: TestGateway, path = '/mcp'): URL => new URL(path, gateway.url)
type WithKey = Pick<TestAgent, 'key'>
const withKey = ({ key }: WithKey) => ({
  requestInit: { headers: { Authorization: `Bearer ${key}` } },
})

/** The official client 2.x, connected in one of its modes. `allSent` resolves once the gateway has answered all that the client has sent. */
export async function connectNew(gateway: TestGateway, agent: WithKey, mode: Mode, path?: string) {
  const negotiation = mode === '2026-07-28' ? { pin: mode } : mode
  const client = new NewClient(info, { versionNegotiation: { mode: negotiation } } as never)
  const transport = new NewTransport(addressOf(gateway, path), withKey(agent))
  const send = transport.send.bind(transport)
  const sending = new Set<Promise<void>>()
  transport.send = (...sent) => {
    const answered = send(...sent)
    const settled: Promise<void> = answered.catch(() => {}).then(() => void sending.delete(settled))
    sending.add(settled)
    return answered
  }
  await client.connect(transport)
  const allSent = async (): Promise<void> => void (await Promise.all(sending))
  return { client, transport, allSent, [Symbol.asyncDispose]: () => client.close() }
}

interface OldClientOptions {
  readonly capabilities?: object
  readonly protocolVersion?: string
  readonly path?: string
}

interface Logged {
  readonly level: string
  readonly logger?: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the wire carries
  readonly data: any
}

/** The official client 1.x, with what it was notified of. */
export async function connectOld(
  gateway: TestGateway,
  agent: WithKey,
  { capabilities = {}, path }: OldClientOptions = {},
) {
  const client = new OldClient(info, { capabilities })
  const logged: Logged[] = []
  const updated: string[] = []
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void logged.push(params as never))
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void updated.push(params.uri))
  const transport = new OldTransport(addressOf(gateway, path), {
    ...withKey(agent),
    reconnectionOptions: {
      maxReconnectionDelay: 50,
      initialReconnectionDelay: 5,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 1_000,
    },
  })
  await client.connect(transport as never)
  return { client, transport, logged, updated, [Symbol.asyncDispose]: () => client.close() }
}

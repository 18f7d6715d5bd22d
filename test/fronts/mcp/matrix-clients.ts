import {
  type Client,
  Client as NewClient,
  StreamableHTTPClientTransport as NewHttp,
  type Transport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport as NewStdio } from '@modelcontextprotocol/client/stdio'
import { AjvJsonSchemaValidator as NewValidator } from '@modelcontextprotocol/client/validators/ajv'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as OldStdio } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as OldHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { LoggingMessageNotificationSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator as OldValidator } from '@modelcontextprotocol/sdk/validation/ajv'
import { atTestEnd } from '../../support/ends.ts'
import type { TestAgent, TestGateway } from '../../support/gateway.ts'
import { rouseWords } from '../../support/program/rouse-words.ts'

/** The client 1.x, or the client 2.x in one of its modes. */
export type Version = '1.x' | '2.x legacy' | '2.x auto' | '2.x 2026-07-28'
/** `/mcp`, or a process `rouse mcp`. */
export type Route = 'http' | 'process'

export interface Harness {
  /** Its acts have the same names in both clients. */
  readonly client: Client
  /** `2025-11-25` */
  readonly protocolVersion: () => string | undefined
  /** For each result that the client has checked against an output schema: true when it was valid. */
  readonly checks: boolean[]
  /** The URIs of resources that have changed. */
  readonly updated: string[]
  /** The data of log messages. */
  readonly logged: unknown[]
}

const info = { name: 'matrix', version: '1' }
const capabilities = { experimental: { 'neo-wake-substrate': { version: '1.0' } } }
const args = [...rouseWords(), 'mcp']

const modes = {
  '2.x legacy': 'legacy',
  '2.x auto': 'auto',
  '2.x 2026-07-28': { pin: '2026-07-28' },
} as const

/** The official client, connected for an agent until the end of the test. */
export async function connectHarness(gateway: TestGateway, agent: TestAgent, version: Version, route: Route) {
  const harness = version === '1.x' ? createOld() : createNew(modes[version])
  const transport = createTransport(gateway, agent, version === '1.x', route)
  await harness.client.connect(transport)
  atTestEnd(() => harness.client.close())
  return { ...harness, protocolVersion: () => harness.protocolVersion(transport) }
}

function createOld() {
  const seen = { checks: [] as boolean[], updated: [] as string[], logged: [] as unknown[] }
  const jsonSchemaValidator = noting(new OldValidator(), seen.checks)
  const client = new OldClient(info, { capabilities, jsonSchemaValidator })
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => void seen.updated.push(params.uri))
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => void seen.logged.push(params.data))
  // Only its transport over HTTP knows.
  const protocolVersion = (transport: Transport) => (transport as { protocolVersion?: string }).protocolVersion
  return { client: client as unknown as Client, protocolVersion, ...seen }
}

function createNew(mode: (typeof modes)[keyof typeof modes]) {
  const seen = { checks: [] as boolean[], updated: [] as string[], logged: [] as unknown[] }
  const jsonSchemaValidator = noting(new NewValidator(), seen.checks)
  const client = new NewClient(info, { capabilities, jsonSchemaValidator, versionNegotiation: { mode } })
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => void seen.updated.push(params.uri))
  client.setNotificationHandler('notifications/message', ({ params }) => void seen.logged.push(params.data))
  return { client, protocolVersion: () => client.getNegotiatedProtocolVersion(), ...seen }
}

function createTransport(gateway: TestGateway, agent: TestAgent, isOld: boolean, route: Route): Transport {
  const { url } = gateway
  const { key } = agent
  if (route === 'http') {
    const options = { requestInit: { headers: { Authorization: `Bearer ${key}` } } }
    const address = new URL('/mcp', url)
    return isOld ? (new OldHttp(address, options) as Transport) : new NewHttp(address, options)
  }
  const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', ROUSE_URL: url, ROUSE_KEY: key }
  const program = { command: process.execPath, args, env, stderr: 'ignore' } as const
  return isOld ? (new OldStdio(program) as Transport) : new NewStdio(program)
}

interface Validator {
  // biome-ignore lint/suspicious/noExplicitAny: the two clients have types of their own for the same shapes
  getValidator(schema: any): (value: unknown) => any
}

/** The validator of a client, which says what came of each check. */
function noting<Of extends Validator>(validator: Of, checks: boolean[]): Of {
  const getValidator = (schema: unknown) => {
    const check = validator.getValidator(schema)
    return (value: unknown) => {
      const checked = check(value)
      checks.push(checked.valid)
      return checked
    }
  }
  return { getValidator } as Of
}

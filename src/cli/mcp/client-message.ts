import { isJsonObject, type JsonObject } from '../../lib/json.ts'

/** The client, by its own words. */
export interface ClientInfo {
  readonly name: string
  readonly version?: string
}

/** The meaning of a message of a client for its Rouse session. */
interface ClientMessage {
  readonly client?: ClientInfo
  /** True when it is work, and no probe: clients start throw-away processes to learn what a server speaks. */
  readonly isWork: boolean
  readonly subscribes?: readonly string[]
  readonly unsubscribes?: readonly string[]
}

const clientInfoKey = 'io.modelcontextprotocol/clientInfo'
/** Requests that only get to know the server. */
const probes = new Set(['initialize', 'server/discover', 'ping', 'logging/setLevel'])
const urisMax = 100

/** Reads a JSON-RPC message from a client, of either era. Pure. */
export function readClientMessage(message: unknown): ClientMessage {
  if (!isJsonObject(message) || typeof message.method !== 'string' || message.id === undefined) return { isWork: false }
  const params = isJsonObject(message.params) ? message.params : {}
  const meta = isJsonObject(params._meta) ? params._meta : {}
  const client = clientOf(message.method === 'initialize' ? params.clientInfo : meta[clientInfoKey])
  return {
    isWork: !probes.has(message.method),
    ...(client === undefined ? {} : { client }),
    ...subscriptionOf(message.method, params),
  }
}

function clientOf(value: unknown): ClientInfo | undefined {
  if (!isJsonObject(value) || typeof value.name !== 'string') return undefined
  const { name, version } = value
  return { name: name.slice(0, 100), ...(typeof version === 'string' ? { version: version.slice(0, 100) } : {}) }
}

function subscriptionOf(method: string, params: JsonObject): Pick<ClientMessage, 'subscribes' | 'unsubscribes'> {
  if (method === 'resources/subscribe') return { subscribes: textsOf([params.uri]) }
  if (method === 'resources/unsubscribe') return { unsubscribes: textsOf([params.uri]) }
  if (method !== 'subscriptions/listen') return {}
  const wanted = isJsonObject(params.notifications) ? params.notifications.resourceSubscriptions : undefined
  return { subscribes: textsOf(Array.isArray(wanted) ? wanted : []) }
}

function textsOf(values: readonly unknown[]): string[] {
  return values.filter((value) => typeof value === 'string').slice(0, urisMax)
}

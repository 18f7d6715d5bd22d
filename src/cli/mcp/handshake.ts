import { isJsonObject, type JsonObject } from '../../lib/json.ts'
import type { Connection } from './connections.ts'

/** The facts of a connection that are known so far. */
type Handshake = Partial<Connection> & { readonly isGreeted?: true }

const versionKey = 'io.modelcontextprotocol/protocolVersion'
const textMax = 100
const listensMax = 10

/** Returns what a message of the client says about the connection: that the client has begun, and with which version. Pure. */
export function handshakeOfClient(message: unknown): Handshake {
  if (!isJsonObject(message)) return {}
  if (message.method === 'notifications/initialized') return { isGreeted: true }
  const meta = isJsonObject(message.params) && isJsonObject(message.params._meta) ? message.params._meta : {}
  const version = meta[versionKey]
  // In the era of 2026 each request says the version, and nothing else is a handshake. A probe only looks.
  if (typeof version !== 'string' || message.method === 'server/discover') return {}
  return { isGreeted: true, protocolVersion: version.slice(0, textMax) }
}

/** Returns what a message of the server says about the connection: the version that was agreed, and the changes that it will report. Pure. */
export function handshakeOfServer(message: unknown): Handshake {
  if (!isJsonObject(message)) return {}
  const { result, params, method } = message
  if (method === 'notifications/subscriptions/acknowledged' && isJsonObject(params)) {
    return { listens: isJsonObject(params.notifications) ? listensOf(params.notifications) : [] }
  }
  const agreed = isJsonObject(result) && isJsonObject(result.serverInfo) ? result.protocolVersion : undefined
  return typeof agreed === 'string' ? { protocolVersion: agreed.slice(0, textMax) } : {}
}

function listensOf(notifications: JsonObject): string[] {
  const all = Object.entries(notifications).filter(([, value]) => value !== false && value !== null)
  const texts = all.map(([name, value]) => (Array.isArray(value) ? `${name} (${value.length})` : name))
  return texts.slice(0, listensMax).map((text) => text.slice(0, textMax))
}

/**
 * Gathers what is known of a connection. `save` is called when the handshake is over, and again when more is known. A fault of
 * `save` is none of the connection's.
 */
export function gatherHandshake(
  save: (connection: Omit<Connection, 'at'>) => void,
  debug: (text: string) => void,
): (more: Handshake) => void {
  let known: Handshake = {}
  let saved = ''
  return (more) => {
    known = { ...known, ...more }
    const { isGreeted, client, era, protocolVersion, channel = '', listens, sessionId } = known
    if (!isGreeted || client === undefined || era === undefined || protocolVersion === undefined) return
    const connection = { client, era, protocolVersion, channel, listens, sessionId }
    const text = JSON.stringify(connection)
    if (text === saved) return
    saved = text
    try {
      save(connection)
    } catch (error) {
      debug(`The connection is not noted: ${(error as Error).message}`)
    }
  }
}

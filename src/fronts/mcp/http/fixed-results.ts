import {
  InMemoryTransport,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../lib/json.ts'
import { readVersion } from '../../../lib/version.ts'
import type { InitializeParams } from '../../../mcp-sessions/mcp-session.ts'
import { createMcpServer } from '../create-mcp-server.ts'
import { instructionsFor } from '../instructions.ts'
import { sessionCapabilities, wakeSubstrate, wantsWakes } from './capabilities.ts'

/** The methods whose results depend only on the protocol version and on whether the client accepts wakes. */
const methods = ['ping', 'tools/list', 'prompts/list', 'resources/templates/list'] as const
type FixedMethod = (typeof methods)[number]

/** The result of each method, as JSON. */
interface FixedResults {
  readonly initialize: JsonObject
  readonly texts: Readonly<Record<FixedMethod, string>>
}

/** By protocol version and wakes: what a client can choose is in no key. */
const known = new Map<string, Promise<FixedResults>>()

/**
 * Returns the result of an `initialize` request, as the SDK's server gives it. Such results are requested from it once: to build a server for
 * each message costs as much as several requests.
 */
export async function initializeResult(initialize: InitializeParams, identity: string): Promise<JsonObject> {
  const results = await resultsFor(initialize)
  return { ...results.initialize, instructions: instructionsFor(identity) }
}

/** Returns the JSON of a result that is the same for every session of this kind; undefined: the method has none. */
export async function fixedResult(method: string, initialize: InitializeParams): Promise<string | undefined> {
  return isFixed(method) ? (await resultsFor(initialize)).texts[method] : undefined
}

const isFixed = (method: string): method is FixedMethod => (methods as readonly string[]).includes(method)

function resultsFor(initialize: InitializeParams): Promise<FixedResults> {
  const { protocolVersion } = initialize
  const version = SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : 'unknown'
  const wakes = wantsWakes(initialize)
  const key = `${version} ${wakes}`
  const cached = known.get(key)
  if (cached) return cached
  const asking = askServer(version, wakes)
  known.set(key, asking)
  // A failure is not the result: the next request asks again.
  asking.catch(() => known.delete(key))
  return asking
}

async function askServer(protocolVersion: string, wakes: boolean): Promise<FixedResults> {
  const params: InitializeParams = {
    protocolVersion,
    capabilities: wakes ? { experimental: { [wakeSubstrate]: {} } } : {},
    clientInfo: { name: 'rouse', version: '1' },
  }
  const call = () => Promise.reject(new Error('A list of what there is calls nothing.'))
  const server = createMcpServer({ call, version: readVersion(), capabilities: sessionCapabilities(params) })
  const [client, served] = InMemoryTransport.createLinkedPair()
  await server.connect(served)
  await client.start()
  const ask = (method: string, given: object = {}): Promise<JsonObject> =>
    new Promise((resolve, reject) => {
      client.onmessage = (answer: JSONRPCMessage) =>
        isJSONRPCResultResponse(answer)
          ? resolve(answer.result as JsonObject)
          : reject(new Error(`${method}: ${JSON.stringify(answer)}`))
      client.send({ jsonrpc: '2.0', id: 1, method, params: { ...given } }).catch(reject)
    })
  try {
    const initialize = await ask('initialize', params)
    const texts: Partial<Record<FixedMethod, string>> = {}
    for (const method of methods) texts[method] = JSON.stringify(await ask(method))
    return { initialize, texts: texts as FixedResults['texts'] }
  } finally {
    await server.close()
  }
}

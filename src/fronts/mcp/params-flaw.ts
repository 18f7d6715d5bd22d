import {
  isJSONRPCRequest,
  type JSONRPCErrorResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type McpServer,
  PROTOCOL_VERSION_META_KEY,
  specTypeSchemas,
} from '@modelcontextprotocol/server'
import { shownLine, unknownName } from './unknown-name.ts'

/** The schema of each request that the server answers. */
const schemas = {
  initialize: specTypeSchemas.InitializeRequest,
  'completion/complete': specTypeSchemas.CompleteRequest,
  'logging/setLevel': specTypeSchemas.SetLevelRequest,
  'prompts/get': specTypeSchemas.GetPromptRequest,
  'prompts/list': specTypeSchemas.ListPromptsRequest,
  'resources/list': specTypeSchemas.ListResourcesRequest,
  'resources/read': specTypeSchemas.ReadResourceRequest,
  'resources/subscribe': specTypeSchemas.SubscribeRequest,
  'resources/templates/list': specTypeSchemas.ListResourceTemplatesRequest,
  'resources/unsubscribe': specTypeSchemas.UnsubscribeRequest,
  'tools/call': specTypeSchemas.CallToolRequest,
  'tools/list': specTypeSchemas.ListToolsRequest,
} as const

/** Methods that protocol versions without sessions have no more: whatever their parameters, they are unknown. */
const removed = new Set(['initialize', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe'])

/** Characters of a field's path, and of what is wrong with it: the client chose the names of the fields. */
const partMax = 300

/**
 * Has a server answer each request whose parameters are wrong, or name what there is not, with -32602 and the name of the field. The library
 * would answer an internal error, or repeat any name as it came. Source: JSON-RPC 2.0, section 5.1.
 */
export function refuseFlaws({ server }: McpServer): void {
  const connect = server.connect.bind(server)
  server.connect = async (transport) => {
    await connect(transport)
    const hear = transport.onmessage
    transport.onmessage = (message, extra) => {
      const flaw = paramsFlaw(message)
      if (flaw === undefined) hear?.(message, extra)
      // As the result of a handler comes: later, and with the status of a result.
      else queueMicrotask(() => void transport.send(flaw).catch(() => {}))
    }
  }
}

function paramsFlaw(message: JSONRPCMessage): JSONRPCErrorResponse | undefined {
  if (!isJSONRPCRequest(message)) return undefined
  const isModern = message.params?._meta?.[PROTOCOL_VERSION_META_KEY] !== undefined
  if (isModern && removed.has(message.method)) return undefined
  const flaw = flawOf(message) ?? unknownName(message.method, message.params)
  return flaw === undefined ? undefined : { jsonrpc: '2.0', id: message.id, error: { code: -32602, message: flaw } }
}

function flawOf({ method, params }: JSONRPCRequest): string | undefined {
  if (!Object.hasOwn(schemas, method)) return undefined
  const checked = schemas[method as keyof typeof schemas]['~standard'].validate({ method, params })
  if (checked instanceof Promise || !checked.issues) return undefined
  const [issue] = checked.issues
  const path = (issue?.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  return `${shownLine(path || 'params', partMax)}: ${shownLine(issue?.message ?? 'is not valid.', partMax)}`
}

import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  specTypeSchemas,
} from '@modelcontextprotocol/server'
import { shownLine, unknownName } from '../unknown-name.ts'

/** The schema of each request that the server answers. */
const schemas = {
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

/** Characters of a field's path, and of what is wrong with it: the client chose the names of the fields. */
const partMax = 300

/**
 * Returns the answer to a request whose parameters are wrong, or name what there is not: -32602, which says so. undefined: they are right.
 * The library would answer an internal error, or repeat any name as it came. Pure. Source: JSON-RPC 2.0, section 5.1.
 */
export function paramsFlaw(message: JSONRPCMessage | undefined): object | undefined {
  if (message === undefined || !isJSONRPCRequest(message)) return undefined
  const flaw = flawOf(message) ?? unknownName(message.method, message.params)
  if (flaw === undefined) return undefined
  return { jsonrpc: '2.0', id: message.id, error: { code: -32602, message: flaw } }
}

function flawOf({ method, params }: JSONRPCRequest): string | undefined {
  if (!Object.hasOwn(schemas, method)) return undefined
  const checked = schemas[method as keyof typeof schemas]['~standard'].validate({ method, params })
  if (checked instanceof Promise || !checked.issues) return undefined
  const [issue] = checked.issues
  const path = (issue?.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  return `${shownLine(path || 'params', partMax)}: ${shownLine(issue?.message ?? 'is not valid.', partMax)}`
}

import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  specTypeSchemas,
} from '@modelcontextprotocol/server'
import { cutText } from '../../../lib/cut-text.ts'

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

/** Characters of a field's path: the client chose its names. */
const pathMax = 300

/**
 * Returns the answer to a request whose parameters are wrong: -32602, which names the field. undefined: they are right. The library
 * would answer an internal error. Pure. Source: JSON-RPC 2.0, section 5.1.
 */
export function paramsFlaw(message: JSONRPCMessage | undefined): object | undefined {
  if (message === undefined || !isJSONRPCRequest(message)) return undefined
  const flaw = flawOf(message)
  if (flaw === undefined) return undefined
  return { jsonrpc: '2.0', id: message.id, error: { code: -32602, message: flaw } }
}

function flawOf({ method, params }: JSONRPCRequest): string | undefined {
  if (!Object.hasOwn(schemas, method)) return undefined
  const checked = schemas[method as keyof typeof schemas]['~standard'].validate({ method, params })
  if (checked instanceof Promise || !checked.issues) return undefined
  const [issue] = checked.issues
  const path = (issue?.path ?? []).map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  return `${cutText(path || 'params', pathMax)}: ${issue?.message ?? 'is not valid.'}`
}

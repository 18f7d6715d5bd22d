import {
  type JSONRPCRequest,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { CallApi } from './call-api.ts'
import { createFindIdentity } from './client-identity.ts'
import { instructionsFor } from './instructions.ts'
import { listedSchema } from './json-schemas.ts'
import { mcpCallOf } from './mcp-call.ts'
import { registerPrompts } from './prompts/prompts.ts'
import { registerResources } from './resources/register-resources.ts'
import { runTool } from './tools/run-tool.ts'
import { tools } from './tools/table.ts'
import type { AnyTool, ToolContext } from './tools/tool.ts'
import { unknownName } from './unknown-name.ts'

interface McpServerInput {
  /** Calls the gateway for the agent that the client speaks for. */
  readonly call: CallApi
  /** `@donna`, where the transport knows it. */
  readonly identity?: string | undefined
  /** The project of the agent, where the transport knows it. */
  readonly project?: string | undefined
  /** Of Rouse. */
  readonly version: string
  /** What the transport adds: `logging`, `experimental`, `resources.subscribe`. */
  readonly capabilities?: ServerCapabilities
  /** Whether the client takes wakes over this session. */
  readonly takesWakes?: boolean
  /** The one request that it is made for: nothing is registered that cannot answer it. Absent: it answers any request. */
  readonly request?: JSONRPCRequest | undefined
}

/** What Rouse offers over MCP: tools, resources and prompts. Make one for each connection, or for each request where there is none. */
export function createMcpServer(input: McpServerInput): McpServer {
  const { call, version, identity, project, capabilities = {}, takesWakes = false, request } = input
  const own = createFindIdentity({ identity, project })
  const part = partFor(request)
  const server = new McpServer({ name: 'rouse', title: 'Rouse', version }, { instructions: instructionsFor(identity) })
  refuseUnknown(server)
  // Given to the constructor, they would set handlers before.
  server.server.registerCapabilities(capabilities)
  for (const tool of part.tools) register(server, tool, call, { own, takesWakes })
  if (part.resources) registerResources(server, call, own)
  if (part.prompts) registerPrompts(server)
  return server
}

type Handler = (request: JSONRPCRequest, context: ServerContext) => unknown

/** Has each request refused that names what there is not, before the handler of the SDK sees it. */
function refuseUnknown({ server }: McpServer): void {
  const setHandler = server.setRequestHandler.bind(server) as (method: string, handler: Handler) => void
  const setChecked = (method: string, handler: Handler): void =>
    setHandler(method, async (request, context) => {
      const flaw = unknownName(method, request.params)
      if (flaw !== undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, flaw)
      return handler(request, context)
    })
  Object.assign(server, { setRequestHandler: setChecked })
}

interface Part {
  readonly tools: readonly AnyTool[]
  readonly resources: boolean
  readonly prompts: boolean
}

const nothing: Part = { tools: [], resources: false, prompts: false }
const everything: Part = { tools, resources: true, prompts: true }

/** What answers a request; undefined: any request. */
function partFor(request: JSONRPCRequest | undefined): Part {
  switch (request?.method) {
    case 'ping':
    case 'logging/setLevel':
      return nothing
    case 'tools/call':
      return { ...nothing, tools: tools.filter(({ name }) => name === request.params?.name) }
    case 'resources/list':
    case 'resources/read':
    case 'resources/subscribe':
    case 'resources/unsubscribe':
      return { ...nothing, resources: true }
    case 'prompts/get':
      return { ...nothing, prompts: true }
    default:
      return everything
  }
}

function register(server: McpServer, tool: AnyTool, call: CallApi, client: Client): void {
  const { name, title, description, annotations, input, output } = tool
  const config = {
    title,
    description,
    annotations,
    inputSchema: listedSchema(input, 'input'),
    outputSchema: listedSchema(output, 'output'),
  }
  server.registerTool(name, config, (given, context) => runTool(tool, call, given, toolContext(context, client)))
}

type Client = Pick<ToolContext, 'own' | 'takesWakes'>

function toolContext(context: ServerContext, client: Client): ToolContext {
  const { signal, _meta: meta } = context.mcpReq
  return {
    call: mcpCallOf(context),
    signal,
    ...client,
    now: () => performance.now(),
    progress: (said) => {
      const progressToken = meta?.progressToken
      if (progressToken === undefined || signal.aborted) return
      // A client that is gone needs no progress: its call ends by its signal.
      context.mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken, ...said } })
        .catch(() => undefined)
    },
  }
}

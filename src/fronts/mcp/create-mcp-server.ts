import {
  type JSONRPCRequest,
  McpServer,
  type ServerCapabilities,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { CallApi } from './call-api.ts'
import { createFindIdentity } from './client-identity.ts'
import { instructionsFor } from './instructions.ts'
import { listedSchema } from './json-schemas.ts'
import { mcpCallOf } from './mcp-call.ts'
import { refuseFlaws } from './params-flaw.ts'
import { registerPrompts } from './prompts/prompts.ts'
import { registerResources } from './resources/register-resources.ts'
import { runTool } from './tools/run-tool.ts'
import { tools } from './tools/table.ts'
import type { AnyTool, ToolContext } from './tools/tool.ts'

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
  /** The events whose wakes the client takes over this session. Absent: none. */
  readonly wakes?: ReadonlySet<string>
  /** Whether progress of a call reaches the client. Absent: it does. */
  readonly reportsProgress?: boolean
  /** The one request that it is made for: no tools are registered that its answer has no use for. Absent: it answers any request. */
  readonly request?: JSONRPCRequest | undefined
}

/** What Rouse offers over MCP: tools, resources and prompts. Make one for each connection, or for each request where there is none. */
export function createMcpServer(input: McpServerInput): McpServer {
  const {
    call,
    version,
    identity,
    project,
    capabilities = {},
    wakes = new Set(),
    reportsProgress = true,
    request,
  } = input
  const own = createFindIdentity({ identity, project })
  const server = new McpServer({ name: 'rouse', title: 'Rouse', version }, { instructions: instructionsFor(identity) })
  refuseFlaws(server)
  // Given to the constructor, they would set handlers before.
  server.server.registerCapabilities(capabilities)
  for (const tool of toolsFor(request)) register(server, tool, call, { own, wakes, reportsProgress })
  registerResources(server, call, own)
  registerPrompts(server)
  return server
}

function toolsFor(request: JSONRPCRequest | undefined): readonly AnyTool[] {
  if (request === undefined || request.method === 'tools/list') return tools
  if (request.method === 'tools/call') return tools.filter(({ name }) => name === request.params?.name)
  // One declares that there are some.
  return tools.slice(0, 1)
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

interface Client extends Pick<ToolContext, 'own' | 'wakes'> {
  readonly reportsProgress: boolean
}

function toolContext(context: ServerContext, { own, wakes, reportsProgress }: Client): ToolContext {
  const { signal, _meta: meta } = context.mcpReq
  return {
    call: mcpCallOf(context),
    signal,
    own,
    wakes,
    now: () => performance.now(),
    progress: (said) => {
      const progressToken = meta?.progressToken
      if (!reportsProgress || progressToken === undefined || signal.aborted) return
      // A client that is gone needs no progress: its call ends by its signal.
      context.mcpReq
        .notify({ method: 'notifications/progress', params: { progressToken, ...said } })
        .catch(() => undefined)
    },
  }
}

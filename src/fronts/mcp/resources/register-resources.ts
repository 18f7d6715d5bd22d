import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { JsonObject } from '../../../lib/json.ts'
import { agentPath } from '../agent-path.ts'
import { type AskApi, createAskApi } from '../ask-api.ts'
import type { CallApi } from '../call-api.ts'
import type { FindIdentity } from '../client-identity.ts'
import { failureText } from '../failure-text.ts'
import { mcpCallOf } from '../mcp-call.ts'
import { quotedNote } from '../quoted.ts'
import { Refused } from '../refused.ts'
import { shownJson } from '../shown-json.ts'
import { listResources } from './list-resources.ts'
import { type ResourceKind, resourceKinds, uriOf } from './uris.ts'

/** Reading a resource delivers no mail, because not only the model opens resources. */
const headers = { 'rouse-pending-signals': 'none' }

/** Reads a resource by its id or handle. Errors: `Refused`, `GatewayUnreachable`, `invalid-request`. */
const readResource: Record<ResourceKind, (api: AskApi, name: string, own: FindIdentity) => Promise<JsonObject>> = {
  inbox: async (api, name, own) => {
    const { identity } = await own(api)
    const agent = name === identity ? undefined : name
    return api.rest('GET /v1/inbox', { query: { unread: 'true', limit: 50, agent }, headers })
  },
  thread: ({ rest }, id) => rest('GET /v1/threads/:id', { params: { id }, query: { limit: 200 }, headers }),
  task: ({ rest }, id) => rest('GET /v1/tasks/:id', { params: { id }, headers }),
  agent: async (api, name, own) => {
    const { project } = await own(api)
    const path = `${agentPath('handle', name, project)}/.well-known/agent-card.json` as const
    return api.request({ method: 'GET', path, headers: { 'a2a-version': '1.0' } })
  },
}

/** The most that one resource shows of one text, and of everything. */
const room = { textBytes: 256 * 1024, bytes: 1024 * 1024 }

const kinds: Record<ResourceKind, { readonly variable: string; readonly title: string; readonly description: string }> =
  {
    inbox: {
      variable: 'handle',
      title: 'An inbox',
      description: 'Unread mail, oldest first: yours, or that of an agent that has granted you CAN_READ_INBOX_OF.',
    },
    thread: { variable: 'id', title: 'A thread', description: 'A conversation, oldest message first.' },
    task: {
      variable: 'id',
      title: 'A task',
      description: 'A task that you are a party of, with what was said and its artifacts.',
    },
    agent: {
      variable: 'handle',
      title: 'An agent',
      description: 'The A2A agent card of an agent: what it does and how to reach it.',
    },
  }

/** Registers the templates of all kinds of resources. */
export function registerResources(server: McpServer, call: CallApi, own: FindIdentity): void {
  const apiFor = (context: ServerContext): AskApi => createAskApi(call, mcpCallOf(context), context.mcpReq.signal)
  for (const kind of resourceKinds) {
    const { variable, title, description } = kinds[kind]
    const template = new ResourceTemplate(uriOf(kind, `{${variable}}`), {
      list: (context) => answered(async () => ({ resources: await listResources[kind](apiFor(context), own) })),
    })
    const config = { title, description, mimeType: 'application/json' }
    server.registerResource(kind, template, config, (uri, variables, context) =>
      answered(async () => {
        const name = decodedName(uri, String(variables[variable] ?? ''))
        const read = await readResource[kind](apiFor(context), name, own)
        const { value, isCut } = shownJson({ note: quotedNote, ...read }, room)
        const text = JSON.stringify({ ...value, ...(isCut ? { isCut } : {}) })
        return { contents: [{ uri: uri.href, mimeType: config.mimeType, text }] }
      }, uri),
    )
  }
}

function decodedName(uri: URL, name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    throw new ResourceNotFoundError(uri.href)
  }
}

/** A refusal as an error of the protocol, in the words of the tools. */
async function answered<Result>(act: () => Promise<Result>, uri?: URL): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    if (error instanceof ProtocolError) throw error
    const text = failureText(error)
    if (uri && error instanceof Refused && error.status === 404) throw new ResourceNotFoundError(uri.href, text)
    const isRequest = error instanceof Refused && error.status < 500
    throw new ProtocolError(isRequest ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError, text)
  }
}

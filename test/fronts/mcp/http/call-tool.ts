import type { JsonObject } from '../../../../src/lib/json.ts'
import type { Answer, TestGateway } from '../../../support/gateway.ts'

/** The outcome of a call of a tool. */
interface ToolAnswer {
  readonly status: number
  readonly isError: boolean
  readonly text: string
}

/** The headers and the body of a request over `/mcp`. */
interface McpRequest {
  readonly headers: Record<string, string>
  readonly body: JsonObject
}

/** One call over `/mcp`, in the protocol version that has no sessions. Mail that came along was for the reader. */
export async function callTool(
  gateway: Pick<TestGateway, 'call'>,
  key: string | null,
  name: string,
  args: JsonObject,
  path?: string,
): Promise<ToolAnswer> {
  const answer = await askMcp(gateway, key, 'tools/call', { name, arguments: args }, path)
  const { result = {} } = answer.body
  const { pendingSignals: _mail, ...shown } = result.structuredContent ?? {}
  const failure = result.isError ? result.content[0].text : answer.body.error
  return {
    status: answer.status,
    isError: result.isError === true || answer.body.result === undefined,
    text: JSON.stringify([shown, failure]),
  }
}

/** One request over `/mcp`, of any method, in the protocol version that has no sessions. */
export function askMcp(
  gateway: Pick<TestGateway, 'call'>,
  key: string | null,
  method: string,
  params: JsonObject = {},
  path = '/mcp',
): Promise<Answer> {
  const { headers, body } = mcpRequest(method, params)
  return gateway.call('POST', path, body, { key, headers })
}

/** The message that `callTool` sends. */
export function toolCall(name: string, args: JsonObject): McpRequest {
  return mcpRequest('tools/call', { name, arguments: args })
}

export function mcpRequest(method: string, params: JsonObject): McpRequest {
  const version = '2026-07-28'
  const name = params.name ?? params.uri
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': version,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return { headers, body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } } }
}

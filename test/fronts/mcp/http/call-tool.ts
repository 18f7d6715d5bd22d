import type { JsonObject } from '../../../../src/lib/json.ts'
import type { TestGateway } from '../../../support/gateway.ts'

/** What a call of a tool came to. */
interface ToolAnswer {
  readonly status: number
  readonly isError: boolean
  readonly text: string
}

/** The headers and the body of a tool's call, in the protocol version that has no sessions. */
export function toolCall(
  name: string,
  args: JsonObject,
): { readonly headers: Record<string, string>; readonly body: JsonObject } {
  const version = '2026-07-28'
  const headers = {
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': version,
    'mcp-method': 'tools/call',
    'mcp-name': name,
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': version,
    'io.modelcontextprotocol/clientInfo': { name: 'walk', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta } } }
}

/** One such call. Mail that came along was for the reader. */
export async function callTool(
  gateway: Pick<TestGateway, 'call'>,
  key: string | null,
  name: string,
  args: JsonObject,
): Promise<ToolAnswer> {
  const { headers, body } = toolCall(name, args)
  const answer = await gateway.call('POST', '/mcp', body, { key, headers })
  const { result = {} } = answer.body
  const { pendingSignals: _mail, ...shown } = result.structuredContent ?? {}
  const failure = result.isError ? result.content[0].text : answer.body.error
  return {
    status: answer.status,
    isError: result.isError === true || answer.body.result === undefined,
    text: JSON.stringify([shown, failure]),
  }
}

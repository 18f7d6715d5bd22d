import type { ServerContext } from '@modelcontextprotocol/server'
import type { McpCall } from './call-api.ts'

/** What the API gets to know about an MCP request. */
export function mcpCallOf({ sessionId, mcpReq, http }: ServerContext): McpCall {
  return { id: mcpReq.id, transportSession: sessionId, authInfo: http?.authInfo, meta: mcpReq._meta }
}

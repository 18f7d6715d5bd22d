import type { ServerContext } from '@modelcontextprotocol/server'
import type { McpCall } from './call-api.ts'

/** Returns the part of an MCP request that the API gets to know. */
export function mcpCallOf({ sessionId, mcpReq, http }: ServerContext): McpCall {
  return { id: mcpReq.id, transportSession: sessionId, authInfo: http?.authInfo, meta: mcpReq._meta }
}

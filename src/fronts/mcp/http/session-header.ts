/** The header that names a session. Source: MCP 2025-11-25, Transports, Session Management. */
export const sessionHeader = 'Mcp-Session-Id'

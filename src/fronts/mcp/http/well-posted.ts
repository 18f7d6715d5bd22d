import { isJsonContentType, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import type { Request } from 'express'

/** Whether the headers of a POST are those that a client must send. The SDK refuses others. Source: MCP 2025-11-25, Transports. */
export function isWellPosted(req: Request, begins: boolean): boolean {
  const accept = req.get('accept') ?? ''
  const version = begins ? undefined : req.get('mcp-protocol-version')
  return (
    accept.includes('application/json') &&
    accept.includes('text/event-stream') &&
    isJsonContentType(req.get('content-type') ?? '') &&
    (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version))
  )
}

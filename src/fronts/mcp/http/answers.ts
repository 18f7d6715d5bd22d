import { isLegacyRequest, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/server'
import type { Request, Response } from 'express'
import { Problem } from '../../../errors.ts'
import { requireStillValid } from '../../../identity/authenticate.ts'
import { endMcpSession } from '../../../mcp-sessions/mcp-sessions.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import { slotOf } from '../../http/admit-request.ts'
import { bearerKey, callerOf } from '../../http/auth.ts'
import type { ToolSet } from '../tools/tool.ts'
import { webRequest } from './caller-server.ts'
import type { McpFrontContext } from './context.ts'
import { answerListenPost } from './listen-post.ts'
import { postedIn } from './posted.ts'
import { refuseMethod } from './rpc-problem.ts'
import { answerSessionPost, sessionHeader, sessionIdOf } from './session-post.ts'
import { streamSession } from './session-stream.ts'

/** Answers `POST /mcp`, whose body is there. Errors: `unauthenticated`, `invalid-request`, and what its era throws. */
export async function answerPost(context: McpFrontContext, req: Request, res: Response): Promise<void> {
  const caller = callerOf(res)
  requireStillValid(context, caller, bearerKey(req))
  const { messages, isBatch } = postedIn(req.body)
  const toolSet = await askedTools(req, caller)
  const post = { caller, address: addressOf(context, req), req, res, messages, isBatch, slot: slotOf(res), toolSet }
  const hasSession = await isLegacyRequest(webRequest(req), isBatch ? messages : messages[0])
  return hasSession ? answerSessionPost(context, post) : answerListenPost(context, post)
}

/**
 * Returns the tools for operators that a request asks for: `/mcp?tools=read`, or `read,write`. undefined: it asks for none, and gets those
 * of agents. They are loaded with the first request that asks. Errors: `invalid-request`, `forbidden`.
 */
async function askedTools({ query }: Pick<Request, 'query'>, caller: Caller): Promise<ToolSet | undefined> {
  if (query.tools === undefined) return undefined
  const { operatorToolSet, toolKinds } = await import('../operator/table.ts')
  const asked = String(query.tools).split(',')
  const kinds = toolKinds.filter((kind) => asked.includes(kind))
  if (kinds.length === 0 || kinds.length < asked.length) {
    throw new Problem('invalid-request', {
      field: 'tools',
      detail: 'tools: is read, write or read,write. Leave it out for the tools of agents.',
    })
  }
  return operatorToolSet(kinds, caller)
}

/** Answers `GET /mcp`: the stream of a session. Errors: `method-not-allowed` in the era without sessions. */
export async function answerGet(context: McpFrontContext, req: Request, res: Response): Promise<void> {
  const isModern = req.get(sessionHeader) === undefined && (req.get('mcp-protocol-version') ?? '') >= '2026'
  if (isModern) refuseMethod(req, res)
  requireKnownVersion(req)
  await streamSession(context, { caller: callerOf(res), address: addressOf(context, req), req, res })
}

/** Answers `DELETE /mcp`: ends a session. Errors: `session-not-found`, `invalid-request`. */
export async function answerDelete({ mcp }: McpFrontContext, req: Request, res: Response): Promise<void> {
  requireKnownVersion(req)
  await endMcpSession(mcp.sessions, callerOf(res), sessionIdOf(req))
  res.status(200).end()
}

/** Errors: `invalid-request`. Source: MCP 2025-11-25, Transports, Protocol Version Header. */
function requireKnownVersion(req: Request): void {
  const version = req.get('mcp-protocol-version')
  if (version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return
  throw new Problem('invalid-request', {
    field: 'Mcp-Protocol-Version',
    detail: `Mcp-Protocol-Version: sessions are for ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}. Send the version that initialize has answered.`,
  })
}

function addressOf({ clientAddress }: McpFrontContext, req: Request): string {
  return clientAddress(req.socket.remoteAddress, req.get('x-forwarded-for'))
}

import type { ErrorRequestHandler, Request, Response } from 'express'
import { Problem } from '../../../errors.ts'
import { isJsonObject } from '../../../lib/json.ts'
import { sizeLimits } from '../../../limits.ts'
import { type RefusalTools, refusing, sendProblem } from '../../http/problem.ts'
import { problemBody } from '../../problem-body.ts'

/** JSON-RPC's codes for problems that come before a message is dispatched. All others are -32000, a server error. */
const codes: Readonly<Partial<Record<Problem['code'], number>>> = {
  'invalid-json': -32700,
  'invalid-request': -32600,
  'session-not-found': -32001,
}

/**
 * Answers what was thrown before a message was dispatched: the status of the problem, with a JSON-RPC error that has the problem as
 * its data. Source: MCP 2025-11-25, Transports, Sending Messages to the Server.
 */
export function rpcProblemHandler(tools: RefusalTools): ErrorRequestHandler {
  return refusing(tools, ({ baseUrl, body }, res, problem) =>
    sendProblem(res, problem, baseUrl, rpcError(problem, baseUrl, idIn(body))),
  )
}

/** A problem as the error of a message. */
export function rpcError(problem: Problem, instance: string, id: string | number | null): object {
  const code = codes[problem.code] ?? -32000
  return { jsonrpc: '2.0', id, error: { code, message: problem.message, data: problemBody(problem, instance) } }
}

/** Returns the id of the one request of a body; null where it has none that an answer may repeat. */
function idIn(body: unknown): string | number | null {
  const id = isJsonObject(body) ? body.id : null
  return (typeof id === 'string' && id.length <= sizeLimits.id.max) || typeof id === 'number' ? id : null
}

/** Errors: `method-not-allowed`. */
export function refuseMethod(req: Request, res: Response, _next?: () => void): never {
  res.setHeader('Allow', 'GET, POST, DELETE')
  throw new Problem('method-not-allowed', {
    detail: `/mcp does not support ${req.method} here. Send messages with POST.`,
  })
}

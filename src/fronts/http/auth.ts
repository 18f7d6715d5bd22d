import type { Request, RequestHandler, Response } from 'express'
import { authenticate } from '../../identity/authenticate.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { callerIn } from '../../registry/projects/projects.ts'
import type { FrontContext } from '../front-context.ts'
import { mailWord } from './answer-mail.ts'

/** Returns the bearer key of a request, if it has one. */
export function bearerKey(req: Request): string | undefined {
  return bearerKeyOf(req.get('authorization'))
}

/** Returns the key of an `Authorization` header or of gRPC metadata. */
export function bearerKeyOf(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
}

/** The header that names the project in which the operator acts. Default: `default`. */
const projectHeader = 'Rouse-Project'

/** The calls by which a program beside a harness reports that it is there. They are no acts of the harness. */
const besideHarness = /^\/v1\/(wake-stream|presence|sessions|recovery|turns|parked|whoami|gate|heartbeat)\b/

/** The methods by which a client of MCP follows a task. It does so by itself, while its model rests. */
const following = /^tasks\//

function isAct(req: Request): boolean {
  if (following.test(req.get('mcp-method') ?? '')) return false
  return mailWord((name) => req.get(name)) !== 'none' && !besideHarness.test(req.baseUrl + req.path)
}

/** Refuses requests without a valid key, and stores the caller for the handlers. Runs before the body is read. */
export function requireKey(context: FrontContext): RequestHandler {
  return async (req, res, next) => {
    const caller = await authenticate(context, bearerKey(req))
    context.saw(caller, isAct(req))
    res.locals.caller = caller
    next()
  }
}

/** Lets an operator act in the project that its request names. Refuses everybody else who names another project. Runs after the request was counted. */
export function actInProject({ db }: Pick<FrontContext, 'db'>): RequestHandler {
  return async (req, res, next) => {
    res.locals.caller = await callerIn(db, callerOf(res), req.get(projectHeader), projectHeader)
    next()
  }
}

/** Returns the caller of the request. `requireKey` must have run. */
export function callerOf(res: Response): Caller {
  return res.locals.caller as Caller
}

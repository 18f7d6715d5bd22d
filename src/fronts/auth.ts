import type { Request, RequestHandler, Response } from 'express'
import { authenticate, type AuthContext as Proving } from '../identity/authenticate.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { callerIn } from '../registry/projects/projects.ts'

/** The bearer key of a request, if it shows one. */
export function bearerKey(req: Request): string | undefined {
  return bearerKeyOf(req.get('authorization'))
}

/** The key in an `Authorization` as headers and gRPC metadata carry it. */
export function bearerKeyOf(authorization: string | undefined): string | undefined {
  return /^Bearer\s+(\S+)\s*$/i.exec(authorization ?? '')?.[1]
}

/** In which project the operator acts, unless in `default`. */
export const projectHeader = 'Rouse-Project'

export interface AuthContext extends Proving {
  /** Hears of everybody who showed a key: a sign of life. */
  readonly saw: (caller: Caller) => void
}

/** Lets only holders of a key through, and keeps who it is for the handlers. Runs before the body is read. */
export function requireKey(context: AuthContext): RequestHandler {
  const { db, saw } = context
  return async (req, res, next) => {
    const caller = await authenticate(context, bearerKey(req))
    saw(caller)
    res.locals.caller = caller
    res.locals.caller = await callerIn(db, caller, req.get(projectHeader), projectHeader)
    next()
  }
}

/** Who makes this request; `requireKey` has run. */
export function callerOf(res: Response): Caller {
  return res.locals.caller as Caller
}

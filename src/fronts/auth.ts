import type { Request, RequestHandler, Response } from 'express'
import { authenticate, type AuthContext as Proving } from '../identity/authenticate.ts'
import type { Caller } from '../registry/callers/caller.ts'
import { callerIn } from '../registry/projects/projects.ts'

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

export interface AuthContext extends Proving {
  /** Called for every authenticated caller, as a sign of life. */
  readonly saw: (caller: Caller) => void
}

/** Refuses requests without a valid key, and stores the caller for the handlers. Runs before the body is read. */
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

/** Returns the caller of the request. `requireKey` must have run. */
export function callerOf(res: Response): Caller {
  return res.locals.caller as Caller
}

import type { Request, RequestHandler, Response } from 'express'
import { authenticate, type Caller } from '../registry/caller.ts'
import type { Reader } from '../storage/database.ts'

/** The bearer key of a request, if it shows one. */
export function bearerKey(req: Request): string | undefined {
  return /^Bearer\s+(\S+)\s*$/i.exec(req.get('authorization') ?? '')?.[1]
}

/** Lets only holders of a key through, and keeps who it is for the handlers. Runs before the body is read. */
export function requireKey(db: Reader, adminKey: string): RequestHandler {
  return async (req, res, next) => {
    res.locals.caller = await authenticate(db, adminKey, bearerKey(req))
    next()
  }
}

/** Who makes this request; `requireKey` has run. */
export function callerOf(res: Response): Caller {
  return res.locals.caller as Caller
}

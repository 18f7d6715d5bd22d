import type { Request, RequestHandler, Response } from 'express'
import type { Audit } from '../../audit/audit.ts'
import type { AuditEntry } from '../../audit/entry.ts'
import { Problem } from '../../errors.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { ClientAddress } from '../../security/client-address.ts'
import { notFound, sendProblem } from '../problem.ts'
import { authorise } from './authorise.ts'
import { isRestPath, matchRest, type RestMatch } from './rest-match.ts'
import { whenToRecord } from './when-to-record.ts'

export interface AuditContext {
  readonly audit: Audit
  readonly clientAddress: ClientAddress
}

/**
 * Finds the row of a request and sees to it that the audit has what the row says, once the answer is known. Runs before the
 * key is looked at: a refused key is recorded too.
 */
export function recordRest(context: AuditContext): RequestHandler {
  return (req, res, next) => {
    const match = matchRest(req.method, req.baseUrl + req.path)
    if (match) {
      res.locals.match = match
      recordAnswer(context, req, res, match)
    }
    next()
  }
}

/** Refuses what the table does not let this caller do. A path without a row is not found, whatever a router would make of it. */
export const authoriseRest: RequestHandler = (req, res, next) => {
  const match = res.locals.match as RestMatch | undefined
  if (match) authorise(match.operation, res.locals.caller as Caller)
  else if (!isRestPath(req.baseUrl + req.path)) return notFound(req, res, next)
  next()
}

/** Names what a request was done to, where its path does not. */
export function noteTarget(res: Response, target: string): void {
  res.locals.target = target
}

function recordAnswer({ audit, clientAddress }: AuditContext, req: Request, res: Response, match: RestMatch): void {
  const { end } = res
  res.end = ((...rest: Parameters<typeof end>) => {
    res.end = end
    const outcome = outcomeOf(res)
    const when = whenToRecord(match.operation, res.locals.caller as Caller | undefined, outcome)
    if (when === 'no') return end.apply(res, rest)
    const address = clientAddress(req.socket.remoteAddress, req.get('x-forwarded-for'))
    const entry = entryOf(res, match, outcome, address)
    if (when === 'refused') audit.refuse(entry)
    if (when === 'soon') audit.note(entry)
    if (when !== 'first') return end.apply(res, rest)
    audit
      .keep(entry)
      .then(
        () => end.apply(res, rest),
        () => sendUnrecorded(res, req),
      )
      // An answer that cannot be written leaves nothing to say on its connection.
      .catch(() => res.destroy())
    return res
  }) as typeof end
}

function entryOf(res: Response, match: RestMatch, outcome: string, address: string): AuditEntry {
  const caller = res.locals.caller as Caller | undefined
  return {
    project: caller?.projectId ?? '',
    actor: caller?.identity ?? '',
    callerId: caller?.id ?? '',
    keyId: caller?.keyId ?? '',
    address,
    front: 'rest',
    operation: match.operation.name,
    target: targetOf(res, match),
    outcome,
  }
}

/** What a handler named, what was made, or what the path names. */
function targetOf(res: Response, { params }: RestMatch): string {
  if (res.locals.target !== undefined) return res.locals.target as string
  const location = res.getHeader('location')
  return typeof location === 'string' ? location.slice(location.lastIndexOf('/') + 1) : params.join(' ')
}

function outcomeOf(res: Response): string {
  if (res.statusCode < 400) return 'ok'
  return (res.locals.problem as string | undefined) ?? `http-${res.statusCode}`
}

/** The change is made. Its answer is held back: nobody may act on what the audit does not know. */
function sendUnrecorded(res: Response, req: Request): void {
  for (const name of ['Location', 'ETag', 'Content-Length', 'Content-Type']) res.removeHeader(name)
  const detail =
    'This was done, but the audit could not record it, so its answer is withheld. Look at the resource before you try again.'
  sendProblem(res, new Problem('storage-unavailable', { detail }), req.originalUrl.split('?')[0] ?? '/')
}

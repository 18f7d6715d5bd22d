import type { Request, RequestHandler, Response } from 'express'
import type { Audit } from '../../audit/audit.ts'
import type { AuditEntry } from '../../audit/entry.ts'
import { Problem } from '../../errors.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { ClientAddress } from '../../security/client-address.ts'
import { notFound, sendProblem } from '../problem.ts'
import type { RouteMatch, RouteTable } from '../rest/route-table.ts'
import { authorise } from './authorise.ts'
import type { RestOperation } from './operation.ts'
import { whenToRecord } from './when-to-record.ts'

/** The part of a route that access control reads. */
interface GuardedRoute {
  readonly operation: RestOperation | undefined
}

export interface AuditContext {
  readonly audit: Audit
  readonly clientAddress: ClientAddress
}

/**
 * Finds the operation of a request, and has its answer recorded as the operation says. Runs before the key is checked, so that
 * a refused key is recorded too.
 */
export function recordRest(context: AuditContext, table: RouteTable<GuardedRoute>): RequestHandler {
  return (req, res, next) => {
    const match = table.match(req.method, req.baseUrl + req.path)
    const operation = match?.route.operation
    if (operation) {
      res.locals.operation = operation
      recordAnswer(context, req, res, { operation, params: match.params })
    }
    next()
  }
}

/** Refuses what the operation does not allow this caller, and paths without a route. Other methods of a path get 405 later. */
export function authoriseRest(table: RouteTable<GuardedRoute>): RequestHandler {
  return (req, res, next) => {
    const operation = res.locals.operation as RestOperation | undefined
    if (operation) authorise(operation, res.locals.caller as Caller)
    else if (table.methodsOf(req.baseUrl + req.path).length === 0) return notFound(req, res, next)
    next()
  }
}

interface RestMatch extends Pick<RouteMatch<unknown>, 'params'> {
  readonly operation: RestOperation
}

/** Sets the target of a request for the audit, if its path does not name it. */
export function noteTarget(res: Response, target: string): void {
  res.locals.target = target
}

const recordings = new WeakMap<Response, () => Promise<void>>()

/**
 * Records an answer that stays open, before it begins; `recordRest` does it for those that end at once. Errors:
 * `storage-unavailable` when the audit cannot record it.
 */
export async function recordBegun(res: Response): Promise<void> {
  try {
    await recordings.get(res)?.()
  } catch (cause) {
    const detail = 'The audit could not record this, so it was not begun. Try again in a second.'
    throw new Problem('storage-unavailable', { detail, cause })
  }
}

function recordAnswer({ audit, clientAddress }: AuditContext, req: Request, res: Response, match: RestMatch): void {
  const { end } = res
  const address = clientAddress(req.socket.remoteAddress, req.get('x-forwarded-for'))
  recordings.set(res, async () => {
    res.end = end
    if (whenToRecord(match.operation, res.locals.caller as Caller, 'ok') === 'no') return
    await audit.keep(entryOf(res, match, 'ok', address))
  })
  res.end = ((...rest: Parameters<typeof end>) => {
    res.end = end
    const outcome = outcomeOf(res)
    const when = whenToRecord(match.operation, res.locals.caller as Caller | undefined, outcome)
    if (when === 'no') return end.apply(res, rest)
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
      // The answer cannot be written, so the connection is closed without one.
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

/** Returns the target of a request: what the handler set, else what was made, else what the path names. */
function targetOf(res: Response, { params }: RestMatch): string {
  if (res.locals.target !== undefined) return res.locals.target as string
  const location = res.getHeader('location')
  return typeof location === 'string' ? location.slice(location.lastIndexOf('/') + 1) : params.join(' ')
}

function outcomeOf(res: Response): string {
  if (res.statusCode < 400) return 'ok'
  return (res.locals.problem as string | undefined) ?? `http-${res.statusCode}`
}

/** The change was made, but its answer is replaced: callers must not act on what the audit has not recorded. */
function sendUnrecorded(res: Response, req: Request): void {
  for (const name of ['Location', 'ETag', 'Content-Length', 'Content-Type']) res.removeHeader(name)
  const detail =
    'This was done, but the audit could not record it, so its answer is withheld. Look at the resource before you try again.'
  sendProblem(res, new Problem('storage-unavailable', { detail }), req.originalUrl.split('?')[0] ?? '/')
}

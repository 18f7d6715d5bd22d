import type { Request, RequestHandler, Response } from 'express'
import type { Audit } from '../../audit/audit.ts'
import type { AuditEntry, AuditFront } from '../../audit/entry.ts'
import { Problem } from '../../errors.ts'
import { Attachment } from '../../lib/attachment.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import type { FrontContext } from '../front-context.ts'
import type { EndAnswer } from '../http/express-messages.ts'
import { sendProblem } from '../http/problem.ts'
import type { Reply } from '../rest/reply.ts'
import type { RouteMatch, RouteTable } from '../rest/route-table.ts'
import type { RestOperation } from './operation.ts'
import { whenToRecord } from './when-to-record.ts'

/** The part of a route that access control reads. */
interface GuardedRoute {
  readonly operation: RestOperation
}

/**
 * Finds the route of a request, once for all that run after it (`matchOf`), and has `recordAnswers` record its answer as the operation of the route
 * says. Runs before the key is checked, so that a refused key is recorded too.
 */
export function recordRest(context: FrontContext, table: RouteTable<GuardedRoute>): RequestHandler {
  return (req, res, next) => {
    const match = table.match(req.method, req.baseUrl + req.path)
    if (match) {
      const { operation } = match.route
      res.locals.match = match
      res.locals.operation = operation
      recordings.set(res, recordingOf(context, req, res, { operation, params: match.params }))
    }
    next()
  }
}

/** Returns what `recordRest` has found for a request; undefined: its table has no such route. */
export const matchOf = <Route extends GuardedRoute>({ locals }: Response): RouteMatch<Route> | undefined => locals.match

/** A call of the REST API, as the audit sees it. */
interface RestRecord {
  readonly operation: RestOperation
  /** The names in the path, in its order. */
  readonly params: readonly string[]
  /** undefined: its key was refused. */
  readonly caller: Caller | undefined
  /** undefined: it was refused before its route ran. */
  readonly reply: Reply | undefined
  readonly front: AuditFront
  readonly address: string
  /** `ok`, or the code of the problem in the answer. */
  readonly outcome: string
}

/** Records a call, unless its operation is not audited. Returns what to wait for before the answer is sent, if anything. */
export function recordRestCall(audit: Audit, record: RestRecord): Promise<void> | undefined {
  const { operation, caller, outcome } = record
  const when = whenToRecord(operation, caller, outcome)
  if (when === 'no') return undefined
  const entry = entryOf(record)
  if (when === 'first') return audit.keep(entry)
  if (when === 'refused') audit.refuse(entry)
  else audit.note(entry)
  return undefined
}

/** Records the answer of a request, once. */
type Recording = () => Promise<void> | undefined

const recordings = new Attachment<Response, Recording | undefined>('recording')

/**
 * Records an answer that stays open, before it begins; `recordAnswers` those that end at once. Errors: `storage-unavailable`
 * when the audit cannot record it.
 */
export async function recordBegun(res: Response): Promise<void> {
  try {
    await takeRecording(res)?.()
  } catch (cause) {
    const detail = 'The audit could not record this, so it was not begun. Try again in a second.'
    throw new Problem('storage-unavailable', { detail, cause })
  }
}

/** Returns an end that records an answer first. */
export function recordAnswers(end: EndAnswer): EndAnswer {
  return (res, given) => {
    const kept = takeRecording(res)?.()
    if (!kept) return end(res, given)
    kept
      .then(
        () => end(res, given),
        () => sendUnrecorded(res),
      )
      // The answer cannot be written, so the connection is closed without one.
      .catch(() => res.destroy())
    return res
  }
}

function takeRecording(res: Response): Recording | undefined {
  const recording = recordings.get(res)
  if (recording) recordings.set(res, undefined)
  return recording
}

function recordingOf(
  { audit, clientAddress }: FrontContext,
  req: Request,
  res: Response,
  called: Pick<RestRecord, 'operation' | 'params'>,
): Recording {
  return () => {
    const caller = res.locals.caller as Caller | undefined
    const reply = res.locals.reply as Reply | undefined
    const address = clientAddress(req.socket.remoteAddress, req.get('x-forwarded-for'))
    const front = frontOf(called.operation)
    return recordRestCall(audit, { caller, reply, front, address, outcome: outcomeOf(res), ...called })
  }
}

/** The requests of MCP itself are answered by the same app. */
const frontOf = ({ name }: RestOperation): AuditFront => (name.startsWith('mcp.') ? 'mcp' : 'rest')

function entryOf({ caller, operation, front, address, outcome, ...called }: RestRecord): AuditEntry {
  return {
    project: caller?.projectId ?? '',
    actor: caller?.identity ?? '',
    callerId: caller?.id ?? '',
    keyId: caller?.keyId ?? '',
    address,
    front,
    operation: operation.name,
    target: targetOf(called),
    outcome,
  }
}

/** Returns the target of a call: the one that the handler set, otherwise the resource that was made, otherwise the one in the path. */
function targetOf({ reply, params }: Pick<RestRecord, 'reply' | 'params'>): string {
  if (reply?.target !== undefined) return reply.target
  const location = reply?.headers.Location
  const named = location === undefined ? params : [location.slice(location.lastIndexOf('/') + 1)]
  return named.map(decoded).join(' ')
}

/** The id and not how the caller has spelled it. A name that cannot be decoded is in no answer. */
function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    return name
  }
}

function outcomeOf(res: Response): string {
  if (res.statusCode < 400) return 'ok'
  return (res.locals.problem as string | undefined) ?? `http-${res.statusCode}`
}

/** The change was made, but its answer is replaced: callers must not act on what the audit has not recorded. */
function sendUnrecorded(res: Response): void {
  for (const name of ['Location', 'ETag', 'Content-Length', 'Content-Type']) res.removeHeader(name)
  sendProblem(res, unrecorded(), res.req.originalUrl.split('?')[0] ?? '/')
}

/** The problem of a call that was carried out and could not be recorded. */
export function unrecorded(): Problem {
  return new Problem('storage-unavailable', {
    detail:
      'This was done, but the audit could not record it, so its answer is withheld. Look at the resource before you try again.',
    extra: { uncertain: true },
  })
}

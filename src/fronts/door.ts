import type { Request, RequestHandler, Response } from 'express'
import { Attachment } from '../lib/attachment.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { LargeRequests } from '../registry/shares/large-requests.ts'
import { type Bulk, newBulk } from '../registry/shares/large-spacing.ts'
import type { Shares } from '../registry/shares/shares.ts'
import type { agentRates } from '../share-limits.ts'
import { type BeginReading, readingBy } from '../tasks/content-within.ts'
import { callerOf } from './auth.ts'
import { leaveRequestQueue } from './request-queue.ts'
import { unreadable } from './unreadable.ts'
import { untilGone } from './until-gone.ts'

/** What is known of a request at the door. */
interface Entered {
  readonly shares: Shares
  readonly leave: () => void
  readonly large: LargeRequests
  readonly request: Bulk
  /** Counts bytes of a request and its answer that are not over. */
  readonly noteMoved: (bytes: number) => void
}

const entered = new Attachment<Response, Entered>('entered')
/** Requests that came in whatever their agent has used up. */
const revoking = new WeakSet<Response>()

/**
 * Lets a caller in who has a share of the gateway left: counts the request, and has it wait while the caller has too many under
 * way. After the key, before the body. Errors: `rate-limited`.
 * @param pathOf what tells of a request how large its answer will be; undefined: only its body does
 * @param isRevocation whether a request lists or revokes keys or permissions
 */
export function takeShare(
  shares: Shares,
  pathOf: (req: Request) => string | undefined = (req) => req.baseUrl + req.path,
  isRevocation: (res: Response) => boolean = () => false,
): RequestHandler {
  return async (req, res, next) => {
    const caller = callerOf(res)
    const bytes = Number(req.headers['content-length'] ?? 0)
    let gone: AbortSignal | undefined
    const request = newBulk({
      what: pathOf(req),
      bytes,
      gone: () => {
        gone ??= untilGone(res)
        return gone
      },
    })
    if (isRevocation(res) && shares.takeRevocation(caller)) revoking.add(res)
    let moved = 0
    const noteMoved = (bytes: number): void => {
      moved += bytes
      shares.noteBytes(caller, bytes)
    }
    try {
      if (!(await enter(shares, caller, res, { request, noteMoved }))) return
    } catch (refusal) {
      return refuseLate(shares, res, refusal)
    }
    const { socket } = req
    const before = socket.bytesRead + socket.bytesWritten
    res.once('prefinish', () => {
      // The answer is written, and its client does not take it: others do not wait for that.
      if (socket.writableLength > 0) request.place?.stepOut()
    })
    res.once('close', () => {
      // What was written may not have been sent.
      const bytes = Math.max(0, socket.bytesRead + socket.bytesWritten - before - moved)
      // What a stream has moved in all says nothing about the next one. Its large events are counted before they are written.
      shares.noteBytes(caller, bytes, moved === 0 ? request : undefined)
      shares.large.close(caller, request)
    })
    next()
  }
}

/**
 * Refuses a request that would use a rate of which nothing is left, before its body is read. `isOf`: whether it would, by its head.
 * Errors: `rate-limited`.
 */
export function requireLeft(
  shares: Shares,
  name: keyof typeof agentRates,
  isOf: (req: Request) => boolean,
): RequestHandler {
  return async (req, res, next) => {
    try {
      if (isOf(req)) shares.requireLeft(callerOf(res), name)
    } catch (refusal) {
      // It takes no place while its refusal is delayed.
      leaveDoor(res)
      return refuseLate(shares, res, refusal)
    }
    next()
  }
}

/** Returns the function that a request over HTTP calls before it reads content of a known size. Errors: `rate-limited`. */
export function readingFor(shares: Shares, res: Response): BeginReading {
  return readingBy(callerOf(res).id, async (bytes) => {
    const request = entered.get(res)?.request
    if (request) await shares.large.beginReading(callerOf(res), request, bytes)
  })
}

/**
 * Waits until the large body of a request over HTTP may be read, before any of it is. Errors: `rate-limited`, `invalid-request` where the
 * client has disconnected.
 */
export async function beginUpload(res: Response, bytes: number): Promise<void> {
  const known = entered.get(res)
  if (known && !(await known.large.beginUpload(callerOf(res), known.request, bytes))) throw unreadable()
}

/**
 * Waits until more may be read of the body of a request over HTTP that did not announce its length: what has arrived of it counts like a large
 * request. Errors: as above.
 */
export async function spaceUpload(res: Response, bytes: number): Promise<void> {
  const known = entered.get(res)
  if (known && !(await known.large.beginBody(callerOf(res), known.request, bytes))) throw unreadable()
}

/** The body of a request over HTTP that did not announce its length has arrived: a large one waits like others. Errors: as above. */
export async function endUpload(res: Response, bytes: number): Promise<void> {
  const known = entered.get(res)
  known?.large.endUpload(callerOf(res), known.request, bytes)
  await spaceUpload(res, bytes)
}

/** Counts a body over HTTP that takes as long to parse as a longer one: the next large one waits for it. */
export function weighBody(res: Response, bytes: number): void {
  const known = entered.get(res)
  known?.large.weigh(callerOf(res), known.request, bytes)
}

/** So many pieces of a body take as much of the thread as a request. */
const piecesOfRequest = 256

/** Counts a body over HTTP that came in many pieces as several requests, for the pace of its agent. */
export function weighPieces(res: Response, pieces: number): void {
  const further = Math.floor(pieces / piecesOfRequest)
  if (further > 0) entered.get(res)?.shares.paceFurther(callerOf(res), further)
}

/** Waits for something without a place among the requests that are processed. */
export function outside<T>(res: Response, wait: () => Promise<T>): Promise<T> {
  const place = placeOf(res)
  return place ? place.outside(wait) : wait()
}

/** The bytes of the body of a request over HTTP, or of the content that it has read so far, whichever is more. */
export function contentBytes(res: Response): number {
  const request = entered.get(res)?.request
  return request ? Math.max(request.bytes, request.arrived, request.read) : 0
}

/** Does the work of a request over HTTP. The content that it reads counts until the work and the answer are over. */
export function during<T>(shares: Shares, res: Response, work: () => Promise<T>): Promise<T> {
  const request = entered.get(res)?.request
  return request ? shares.large.during(callerOf(res), request, work) : work()
}

/** The functions that a stream over HTTP calls around its events: it has read content and written it long before it ends. */
export function eventsFor(shares: Shares, res: Response) {
  const request = entered.get(res)?.request
  return {
    beginEvent: async (bytes: number, gone: AbortSignal): Promise<void> => {
      if (request) await shares.large.beginEvent(callerOf(res), request, bytes, gone)
    },
    endReading: (): void => {
      if (request) shares.large.endReading(callerOf(res), request)
    },
  }
}

/** Counts an event of a stream when it is written, or what a stream has read: it may stay open for hours. */
export function noteMoved(res: Response, bytes: number): void {
  entered.get(res)?.noteMoved(bytes)
}

/** Names a request by the method in its body. A request with an expected large answer waits until it may begin. Errors: `rate-limited`. */
export function nameRequest(shares: Shares, nameOf: (req: Request, res: Response) => string): RequestHandler {
  return async (req, res, next) => {
    const request = entered.get(res)?.request
    if (request?.what === undefined && request) {
      const named = { ...request, what: nameOf(req, res) }
      if (!(await shares.large.beginNamed(callerOf(res), named))) return
      // Only after the wait: a refusal is small, and says nothing about the size of the refused request.
      request.what = named.what
      request.counted = named.counted
    }
    next()
  }
}

async function refuseLate(shares: Shares, res: Response, refusal: unknown): Promise<void> {
  if (!(await shares.mayRefuse(callerOf(res), untilGone(res)))) return void res.destroy()
  throw refusal
}

/** False: the client went away while it waited. */
async function enter(
  shares: Shares,
  caller: Caller,
  res: Response,
  known: Pick<Entered, 'request' | 'noteMoved'>,
): Promise<boolean> {
  const isRevoking = revoking.has(res)
  if (!isRevoking) shares.spendRequest(caller)
  let leave = isRevoking ? shares.enterRevocation(caller, known.request) : shares.enter(caller, known.request)
  if (typeof leave !== 'function') {
    leaveRequestQueue(res)
    leave = await leave
  }
  if (res.closed) {
    leave()
    return false
  }
  entered.set(res, { shares, leave, large: shares.large, ...known })
  res.once('close', leave)
  return true
}

/** Whether a request came in whatever its agent has used up: it revokes something, or lists what may be revoked. */
export function isRevoking(res: Response): boolean {
  return revoking.has(res)
}

/** The place of a request among those that are processed. */
export function placeOf(res: Response): Bulk['place'] {
  return entered.get(res)?.request.place
}

/** Gives back the room of a request that stays open and waits: streams and blocking calls have limits of their own. */
export function leaveDoor(res: Response): void {
  entered.get(res)?.leave()
}

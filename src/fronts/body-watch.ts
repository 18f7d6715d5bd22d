import type { IncomingMessage, ServerResponse } from 'node:http'
import { Problem } from '../errors.ts'
import type { ConnectionBounds } from './connection-bounds.ts'
import { closingWriteHead, hasBody, ignoreBody } from './early-answer.ts'
import { sendProblem } from './problem.ts'

const lookEveryMs = 1_000
/** How many late bodies are refused in one iteration of the event loop. */
const fewAtOnce = 8

/** Watches request bodies while they arrive, and refuses those that arrive too slowly or do not end. */
export class BodyWatch {
  readonly #bounds: ConnectionBounds
  readonly #writeHead: ServerResponse['writeHead']
  readonly #arriving = new Map<IncomingMessage, Arrival>()
  #timer: NodeJS.Timeout | undefined

  constructor(bounds: ConnectionBounds) {
    this.#bounds = bounds
    this.#writeHead = closingWriteHead(bounds.linger * 1000)
  }

  start(): void {
    // At least four checks within the first seconds, so that a smaller bound works too.
    const everyMs = Math.min(lookEveryMs, this.#bounds.bodyGrace * 250)
    this.#timer ??= setInterval(() => this.#look(everyMs), everyMs).unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  /** Watches a request that has a body, until `forget`. */
  watch(req: IncomingMessage, res: ServerResponse): void {
    if (!hasBody(req)) return
    res.writeHead = this.#writeHead
    this.#arriving.set(req, { res, readBefore: req.socket.bytesRead, waitedMs: 0 })
  }

  forget(req: IncomingMessage): void {
    this.#arriving.delete(req)
  }

  /** Refuses a body that comes in too many fine pieces. The rest of them is not looked at. */
  refuseFine(req: IncomingMessage): void {
    const arrival = this.#arriving.get(req)
    this.forget(req)
    ignoreBody(req)
    if (!arrival || arrival.res.headersSent) return void req.socket.destroy()
    sendProblem(arrival.res, tooFine(this.#bounds), pathOf(req))
  }

  #look(elapsedMs: number): void {
    const late: Late[] = []
    for (const [req, arrival] of this.#arriving) {
      if (req.complete || arrival.res.headersSent) {
        this.forget(req)
        continue
      }
      // The sender is responsible only for the time in which the gateway waits for the body.
      if (req.readableFlowing) arrival.waitedMs += elapsedMs
      const problem = judgeArrival(req.socket.bytesRead - arrival.readBefore, arrival.waitedMs, this.#bounds)
      if (!problem) continue
      this.forget(req)
      late.push({ req, res: arrival.res, problem })
    }
    refuseInTurn(late)
  }
}

interface Late {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly problem: Problem
}

/** Refuses a few in each iteration of the event loop: hundreds of bodies that began together are late together. */
function refuseInTurn(late: readonly Late[]): void {
  for (const { req, res, problem } of late.slice(0, fewAtOnce)) {
    if (!req.complete && !res.headersSent) sendProblem(res, problem, pathOf(req))
  }
  if (late.length > fewAtOnce) setImmediate(() => refuseInTurn(late.slice(fewAtOnce)))
}

/** As the client named it: Express shortens `url` while a router below a path has the request. */
function pathOf({ originalUrl, url = '/' }: IncomingMessage & { readonly originalUrl?: string }): string {
  return (originalUrl ?? url).split('?')[0] ?? '/'
}

interface Arrival {
  readonly res: ServerResponse
  /** The bytes of the connection before this body. */
  readonly readBefore: number
  waitedMs: number
}

function tooFine({ bodyPieces }: ConnectionBounds): Problem {
  return new Problem('payload-too-large', {
    detail: `The body has more than ${bodyPieces} chunks, with fewer than 32 bytes on average. Send it with Content-Length, or in larger chunks.`,
    extra: { limit: 'bodyPieces', max: bodyPieces },
  })
}

/** Returns the problem of a body after a number of bytes and a time; undefined if there is none. */
export function judgeArrival(bytes: number, waitedMs: number, bounds: ConnectionBounds): Problem | undefined {
  const { wireBody, bodyGrace, bodyRate } = bounds
  if (bytes > wireBody) {
    return new Problem('payload-too-large', {
      detail: `More than ${wireBody} bytes have arrived, and the body has not ended. Send less, or send a URL.`,
      extra: { limit: 'wireBody', max: wireBody },
    })
  }
  if (waitedMs > bodyGrace * 1000 && bytes < (bodyRate * waitedMs) / 1000) {
    return new Problem('request-timeout', {
      detail: `The body arrives at less than ${bodyRate} bytes a second. Send it faster, or send less.`,
      extra: { limit: 'bodyRate', max: bodyRate },
    })
  }
  return undefined
}

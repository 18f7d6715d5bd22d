import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express, Response } from 'express'
import { closeUnread } from './early-answer.ts'
import { asksForWebSocket } from './upgrade.ts'

// The one place that changes the requests and responses of Node and Express. Both make their objects themselves, and a function or a prototype
// that is set on each of them later makes V8 slow, and keeps a request until a major collection. So everything is changed once for each app.

/**
 * The classes of a server's requests and responses. Express sets the prototype of every request and response to its own, and V8
 * is slow with an object whose prototype has changed. `adopt` makes Express's prototypes those of the classes, so that Express
 * changes nothing: a request costs about half as much.
 */
export class ExpressMessages {
  readonly IncomingMessage = requestClass()
  readonly ServerResponse = responseClass()

  /** Makes the requests and responses of the server those of an app. One app only. */
  adopt(app: Express): void {
    Object.setPrototypeOf(this.IncomingMessage.prototype, app.request)
    Object.setPrototypeOf(this.ServerResponse.prototype, app.response)
    app.request = this.IncomingMessage.prototype as Express['request']
    app.response = this.ServerResponse.prototype as Express['response']
  }
}

function requestClass(): typeof IncomingMessage {
  return class extends IncomingMessage {
    #isOffered = false

    /** Node reads it when the headers are complete: a request that offers another protocol in vain is answered as it is. */
    get upgrade(): boolean {
      return this.#isOffered && asksForWebSocket(this)
    }

    set upgrade(isOffered: boolean | null) {
      // Node's own constructor sets it before the fields of this class exist.
      if (isOffered) this.#isOffered = true
    }
  }
}

function responseClass(): typeof ServerResponse {
  return class extends ServerResponse {
    override writeHead(statusCode: number, ...more: unknown[]): this {
      if (!this.req.complete) closeUnread(this)
      return super.writeHead(statusCode, ...(more as []))
    }
  } as typeof ServerResponse
}

/** Ends an answer with what `end` of a response takes. */
export type EndAnswer = (res: Response, given: readonly unknown[]) => Response

/** Has all answers of an app ended by a function, which gets the one of Node. */
export function endAnswers(app: Express, endingOf: (end: EndAnswer) => EndAnswer): void {
  const end = ServerResponse.prototype.end as (this: Response, ...given: readonly unknown[]) => Response
  const ending = endingOf((res, given) => end.apply(res, given as unknown[]))
  app.response.end = function (this: Response, ...given: unknown[]) {
    return ending(this, given)
  } as Response['end']
}

/** Express would answer 304 by any ETag. The ETag of a task is for If-Match only; cards compare theirs themselves. */
export function answerInFull(app: Express): void {
  Object.defineProperty(app.request, 'fresh', { value: false })
}

/** Notes that another protocol has taken the connection of a response: nobody answers it any more. */
export function leaveConnection(res: ServerResponse): void {
  res.statusCode = 101
  Object.defineProperty(res, 'headersSent', { value: true })
}

import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'
import { asksForWebSocket } from './upgrade.ts'

/**
 * The classes of a server's requests and responses. Express sets the prototype of every request and response to its own, and V8
 * is slow with an object whose prototype has changed. `adopt` makes Express's prototypes those of the classes, so that Express
 * changes nothing: a request costs about half as much.
 */
export class ExpressMessages {
  readonly IncomingMessage = requestClass()
  readonly ServerResponse = class extends ServerResponse {} as typeof ServerResponse

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

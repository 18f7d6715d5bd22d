import { IncomingMessage, ServerResponse } from 'node:http'
import type { Express } from 'express'
import { Attachment } from '../lib/attachment.ts'
import { BodyPieces } from './body-pieces.ts'
import { asksForWebSocket } from './upgrade.ts'

/**
 * The classes of a server's requests and responses. Express sets the prototype of every request and response to its own, and V8
 * is slow with an object whose prototype has changed. `adopt` makes Express's prototypes those of the classes, so that Express
 * changes nothing: a request costs about half as much.
 */
export class ExpressMessages {
  readonly IncomingMessage: typeof IncomingMessage
  readonly ServerResponse = class extends ServerResponse {} as typeof ServerResponse

  constructor(pieces?: PiecesBound) {
    this.IncomingMessage = requestClass(pieces)
  }

  /** Makes the requests and responses of the server those of an app. One app only. */
  adopt(app: Express): void {
    Object.setPrototypeOf(this.IncomingMessage.prototype, app.request)
    Object.setPrototypeOf(this.ServerResponse.prototype, app.response)
    app.request = this.IncomingMessage.prototype as Express['request']
    app.response = this.ServerResponse.prototype as Express['response']
  }
}

/** How many fine pieces a body may have, and what is done with a request that has more. */
interface PiecesBound {
  readonly max: number
  readonly refuse: (req: IncomingMessage) => void
}

const noBound: PiecesBound = { max: Number.POSITIVE_INFINITY, refuse: () => {} }

/** How many pieces the body of a request had so far. */
export function piecesOf(req: IncomingMessage): number {
  return pieces.get(req)?.count ?? 0
}

const pieces = new Attachment<IncomingMessage, BodyPieces>('pieces')

function requestClass({ max, refuse }: PiecesBound = noBound): typeof IncomingMessage {
  return class extends IncomingMessage {
    #isOffered = false
    #isRefused = false

    /** Node reads it when the headers are complete: a request that offers another protocol in vain is answered as it is. */
    get upgrade(): boolean {
      return this.#isOffered && asksForWebSocket(this)
    }

    set upgrade(isOffered: boolean | null) {
      // Node's own constructor sets it before the fields of this class exist.
      if (isOffered) this.#isOffered = true
    }

    /** The parser of Node calls it with each piece of the body, and with null at its end. */
    override push(piece: Buffer | null): boolean {
      const known = pieces.get(this)
      if (piece === null) {
        known?.passRest((rest) => super.push(rest))
        return super.push(null)
      }
      if (this.#isRefused) return true
      const body = known ?? new BodyPieces(max)
      if (!known) pieces.set(this, body)
      if (!body.areTooMany) return body.take(piece, (whole) => super.push(whole))
      this.#isRefused = true
      refuse(this)
      return true
    }
  }
}

import type { Request, Response } from 'express'
import { Problem } from '../errors.ts'
import { companyLimits } from '../gateway-limits.ts'
import { inputLimits } from '../limits.ts'
import { beginUpload, endUpload, outside, weighPieces } from './door.ts'
import { piecesOf } from './express-messages.ts'
import { unreadable } from './unreadable.ts'

const { largeBytes } = companyLimits

/**
 * Reads a body. A large one waits until its caller has few enough in memory; one of unknown length shows that it is large when 64 KiB of it
 * have arrived. Undefined: there is none. Errors: `payload-too-large`, `rate-limited`, `invalid-request` where its client has disconnected.
 */
export async function readBody(req: Request, res: Response, bytesMax: number): Promise<Buffer | undefined> {
  const body = await readWhole(req, res, bytesMax)
  weighPieces(res, piecesOf(req))
  return body
}

async function readWhole(req: Request, res: Response, bytesMax: number): Promise<Buffer | undefined> {
  const { 'transfer-encoding': encoding, 'content-length': length } = req.headers
  const announced = encoding === undefined ? length : undefined
  if (encoding === undefined && length === undefined) return undefined
  // Something else has read it.
  if (req.readableFlowing !== null) return undefined
  if (announced === undefined) return readUnannounced(req, res, bytesMax)
  const bytes = Number(announced)
  if (bytes > bytesMax) throw tooLarge(bytesMax)
  if (bytes <= largeBytes.max) return new Arrival(req, bytesMax).whole
  await beginUpload(res, bytes)
  return outside(res, () => new Arrival(req, bytesMax).whole)
}

async function readUnannounced(req: Request, res: Response, bytesMax: number): Promise<Buffer> {
  const body = await outside(res, () => new Arrival(req, bytesMax, () => beginUpload(res, bytesMax)).whole)
  await endUpload(res, body.length)
  return body
}

/** A body while it arrives. */
class Arrival {
  readonly whole: Promise<Buffer>
  readonly #req: Request
  readonly #bytesMax: number
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #beforeMore: (() => Promise<void>) | undefined
  #fail: (error: unknown) => void = () => {}

  /** @param beforeMore called once, when the body turns out to be large: it goes on when this resolves */
  constructor(req: Request, bytesMax: number, beforeMore?: () => Promise<void>) {
    this.#req = req
    this.#bytesMax = bytesMax
    this.#beforeMore = beforeMore
    this.whole = new Promise((resolve, reject) => {
      this.#fail = reject
      req.on('end', () => resolve(this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)))
    })
    req.on('data', this.#take)
    // Node reports a client that went away as an error, and only to who listens.
    req.on('error', () => this.#fail(unreadable()))
  }

  readonly #take = (chunk: Buffer): void => {
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytesMax) return void this.#stop(tooLarge(this.#bytesMax))
    this.#chunks.push(chunk)
    const beforeMore = this.#beforeMore
    if (this.#bytes <= largeBytes.max || !beforeMore) return
    this.#beforeMore = undefined
    this.#req.pause()
    beforeMore().then(
      () => this.#req.resume(),
      (error: unknown) => this.#stop(error),
    )
  }

  /** The rest is left to who answers: it closes the connection. */
  #stop(error: unknown): void {
    this.#chunks.length = 0
    this.#req.off('data', this.#take)
    this.#req.pause()
    this.#fail(error)
  }
}

function tooLarge(max: number): Problem {
  const limit = (['restBody', 'a2aBody'] as const).find((name) => inputLimits[name].max === max)
  return new Problem('payload-too-large', {
    detail: `The body is larger than the ${max} bytes that this endpoint accepts. Send less, or send a URL.`,
    extra: { ...(limit && { limit }), max },
  })
}

import type { Request, Response } from 'express'
import { Problem } from '../errors.ts'
import { companyLimits } from '../gateway-limits.ts'
import { inputLimits, MiB } from '../limits.ts'
import { beginUpload, endUpload, outside, spaceUpload, weighBody, weighPieces } from './door.ts'
import { piecesOf } from './express-messages.ts'
import { unreadable } from './unreadable.ts'

const { largeBytes } = companyLimits
/** How much more of a body of unknown length is read before it waits again. */
const stepBytes = MiB

/**
 * Reads a body. A large one waits until its caller has few enough in memory; one of unknown length shows that it is large when 64 KiB of it
 * have arrived, and waits before each further MiB while others send requests. Undefined: there is none. Errors: `payload-too-large`,
 * `rate-limited`, `invalid-request` where its client has disconnected.
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
  return outside(res, () => new Arrival(req, bytesMax, { announced: bytes }).whole)
}

async function readUnannounced(req: Request, res: Response, bytesMax: number): Promise<Buffer> {
  let isBegun = false
  const beforeMore = async (bytes: number): Promise<number> => {
    if (!isBegun) await beginUpload(res, bytesMax)
    isBegun = true
    await spaceUpload(res, bytes)
    return bytes + stepBytes
  }
  const arrival = new Arrival(req, bytesMax, { beforeMore })
  try {
    const body = await outside(res, () => arrival.whole)
    await endUpload(res, body.length)
    return body
  } catch (error) {
    // What was read of a body that does not end, or is refused, has its cost too.
    weighBody(res, arrival.bytes)
    throw error
  }
}

interface Expected {
  /** The length of the body, in bytes: what arrives is put together at once, rather than at its end. */
  readonly announced?: number
  /** Called with the bytes so far when the body turns out to be large: it goes on when this resolves, with the bytes at which it is called again. */
  readonly beforeMore?: (bytes: number) => Promise<number>
}

/** A body while it arrives. */
class Arrival {
  readonly whole: Promise<Buffer>
  readonly #req: Request
  readonly #bytesMax: number
  readonly #chunks: Buffer[] = []
  readonly #together: Buffer | undefined
  readonly #beforeMore: Expected['beforeMore']
  #bytes = 0
  /** The number of bytes after which it waits. */
  #readTo = largeBytes.max
  #fail: (error: unknown) => void = () => {}

  constructor(req: Request, bytesMax: number, { announced, beforeMore }: Expected = {}) {
    this.#req = req
    this.#bytesMax = bytesMax
    this.#together = announced === undefined ? undefined : Buffer.allocUnsafeSlow(announced)
    this.#beforeMore = beforeMore
    this.whole = new Promise((resolve, reject) => {
      this.#fail = reject
      req.on('end', () => resolve(this.#body()))
    })
    req.on('data', this.#take)
    // Node reports a client that went away as an error, and only to who listens.
    req.on('error', () => this.#fail(unreadable()))
  }

  /** How many have arrived. */
  get bytes(): number {
    return this.#bytes
  }

  #body(): Buffer {
    if (this.#together) return this.#together.subarray(0, this.#bytes)
    return this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)
  }

  readonly #take = (chunk: Buffer): void => {
    const before = this.#bytes
    this.#bytes += chunk.length
    if (this.#bytes > this.#bytesMax) return void this.#stop(tooLarge(this.#bytesMax))
    if (this.#together) chunk.copy(this.#together, before)
    else this.#chunks.push(chunk)
    if (this.#beforeMore && this.#bytes > this.#readTo) void this.#wait(this.#beforeMore)
  }

  async #wait(beforeMore: (bytes: number) => Promise<number>): Promise<void> {
    this.#readTo = Number.POSITIVE_INFINITY
    this.#req.pause()
    try {
      this.#readTo = await beforeMore(this.#bytes)
      this.#req.resume()
    } catch (error) {
      this.#stop(error)
    }
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

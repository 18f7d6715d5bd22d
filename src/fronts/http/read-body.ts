import type { Request, Response } from 'express'
import type { Admission } from '../../admission/admission.ts'
import { Problem } from '../../errors.ts'
import { releaseSlotWhile } from './admit-request.ts'
import { callerOf } from './auth.ts'
import { unreadable } from './unreadable.ts'

/** Chunks of a body that may be of any size. Of more, each must have `chunkMin` bytes on average: each costs a microsecond. */
const chunksFree = 1_000
const chunkMin = 32

/**
 * Reads a body. It is counted while it is in memory, and a request has no slot while it arrives. Returns undefined where there is none.
 * Errors: `payload-too-large`, `rate-limited`, `invalid-request` where its client has disconnected.
 */
export async function readBody(
  admission: Admission,
  req: Request,
  res: Response,
  bytesMax: number,
): Promise<Buffer | undefined> {
  const { 'transfer-encoding': encoding, 'content-length': length } = req.headers
  if (encoding === undefined && length === undefined) return undefined
  // Something else has read it.
  if (req.readableFlowing !== null) return undefined
  const bytes = encoding === undefined ? Number(length) : undefined
  if (bytes !== undefined && bytes > bytesMax) throw tooLarge(bytesMax)
  const read = async (): Promise<Buffer> => {
    const caller = callerOf(res)
    const free = caller && (await admission.holdBody(caller, bytes))
    if (res.closed) free?.()
    else res.once('close', () => free?.())
    const body = await arrived(req, bytesMax)
    free?.(body.length)
    return body
  }
  return req.complete ? read() : releaseSlotWhile(res, read)
}

function arrived(req: Request, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const take = (chunk: Buffer): void => {
      bytes += chunk.length
      chunks.push(chunk)
      if (bytes > bytesMax) stop(tooLarge(bytesMax))
      else if (chunks.length > chunksFree && bytes < chunkMin * chunks.length) stop(tooFine())
    }
    /** The rest is left to who answers: it closes the connection. */
    const stop = (error: Problem): void => {
      chunks.length = 0
      req.off('data', take)
      req.pause()
      reject(error)
    }
    req.on('data', take)
    req.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes)))
    // Node reports a client that went away as an error, and only to who listens.
    req.on('error', () => reject(unreadable()))
  })
}

function tooLarge(max: number): Problem {
  return new Problem('payload-too-large', {
    detail: `The body is larger than the ${max} bytes that this gateway accepts. Send less, or send a URL.`,
    extra: { limit: 'body', max },
  })
}

const tooFine = (): Problem =>
  new Problem('payload-too-large', {
    detail: `The body has more than ${chunksFree} chunks, with fewer than ${chunkMin} bytes on average. Send it with Content-Length, or in larger chunks.`,
  })

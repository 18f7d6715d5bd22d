import type { Request, RequestHandler, Response } from 'express'
import type { Admission } from '../../admission/admission.ts'
import { Problem } from '../../errors.ts'
import type { FrontContext } from '../front-context.ts'
import { requireModestJson, requireStorableJson } from '../json-shape.ts'
import { slotOf } from './admit-request.ts'
import { callerOf } from './auth.ts'
import { unreadable } from './problem.ts'

/** Chunks of a body that may be of any size. Of more, each must have `chunkMin` bytes on average: each costs a microsecond. */
const chunksFree = 1_000

const chunkMin = 32

const tooFine = (): Problem =>
  new Problem('payload-too-large', {
    detail: `The body has more than ${chunksFree} chunks, with fewer than ${chunkMin} bytes on average. Send it with Content-Length, or in larger chunks.`,
  })

/** The ways in which nearly every client writes the type of a JSON body. */
const plainTypes: ReadonlySet<string | undefined> = new Set([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-8',
  'application/a2a+json',
])

const invalidJson = (): Problem =>
  new Problem('invalid-json', { detail: 'The body is not valid JSON. Send one JSON object in UTF-8.' })

/** Reads a JSON body. A body of another type is refused rather than passed over, which would look like an empty one. */
export function jsonBody(context: Pick<FrontContext, 'admission' | 'bodyMax'>): RequestHandler[] {
  const type = ['application/json', 'application/*+json']
  return [requireJson(type), parseJson(context, type)]
}

/**
 * Reads a body of these types as JSON. It may have `bodyMax` bytes, and the depth and number of values of `sizeLimits`. A compressed
 * body is refused: only its compressed size would count against the limits of its sender. Errors: `invalid-json`, `invalid-request`,
 * `unsupported-media-type`, `payload-too-large`, `rate-limited`.
 */
export function parseJson(
  { admission, bodyMax }: Pick<FrontContext, 'admission' | 'bodyMax'>,
  type: string[],
  strict = true,
): RequestHandler {
  return async (req, res, next) => {
    if (!plainTypes.has(req.headers['content-type'])) {
      if (!req.is(type)) return next()
      requireUtf8(req)
    }
    requireUncompressed(req)
    const bytes = await readBody(admission, req, res, bodyMax)
    if (bytes !== undefined) req.body = parsed(bytes, strict)
    next()
  }
}

function requireUncompressed({ headers }: Request): void {
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  throw new Problem('unsupported-media-type', {
    field: 'Content-Encoding',
    detail:
      'Content-Encoding: this endpoint takes no compressed bodies. Send the body uncompressed, without this header.',
  })
}

/** Every other encoding would hide the shape from the bytes (RFC 8259 section 8.1 allows none). */
function requireUtf8({ headers }: Request): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase()
  if (charset === undefined || charset === 'utf-8' || charset === 'utf8') return
  throw new Problem('unsupported-media-type', { detail: 'The charset of the body is not supported. Send UTF-8.' })
}

function parsed(bytes: Buffer, strict: boolean): unknown {
  requireModestJson(bytes)
  requireStorableJson(bytes)
  // As Express does it: an empty body is an empty object.
  if (bytes.length === 0) return {}
  let value: unknown
  try {
    value = JSON.parse(withoutMark(bytes).toString())
  } catch {
    throw invalidJson()
  }
  if (strict && (typeof value !== 'object' || value === null)) throw invalidJson()
  return value
}

/** A text in UTF-8 may begin with a byte order mark, which is not JSON. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

function requireJson(types: string[]): RequestHandler {
  return (req, _res, next) => {
    const given = req.get('content-type')
    const length = req.get('content-length')
    // Of a chunked body only its type tells that there is one.
    const hasBody = length === undefined ? given !== undefined && req.is('*/*') !== null : Number(length) > 0
    if (!hasBody || req.is(types)) return next()
    throw new Problem('unsupported-media-type', {
      field: 'Content-Type',
      detail: `Content-Type: this endpoint takes application/json, not ${given ?? 'a body without a type'}.`,
    })
  }
}

/**
 * Reads a body. It is counted while it is in memory, and a request has no slot while it arrives. Returns undefined where there is none.
 * Errors: `payload-too-large`, `rate-limited`, `invalid-request` where its client has disconnected.
 */
async function readBody(
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
  return req.complete ? read() : slotOf(res).releaseWhile(read)
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

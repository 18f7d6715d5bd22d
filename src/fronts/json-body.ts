import type { Request, RequestHandler, Response } from 'express'
import { Problem } from '../errors.ts'
import { parseInSlices } from '../lib/parse-in-slices.ts'
import { beginSlice, sliceBytes } from '../lib/pauses.ts'
import { inputLimits } from '../limits.ts'
import { callerOf } from './auth.ts'
import { weighBody } from './door.ts'
import { requireModestJson, requireStorableJson } from './json-shape.ts'
import { hasLargeContent } from './large-json.ts'
import { readBody } from './read-body.ts'
import { unreadable } from './unreadable.ts'

/** The ways in which nearly every client writes the type of a JSON body. */
const plainTypes: ReadonlySet<string | undefined> = new Set([
  'application/json',
  'application/json; charset=utf-8',
  'application/json;charset=utf-8',
  'application/a2a+json',
])

/** What a value costs beside its text, in bytes: to parse 100,000 fields with different names takes as long as 12 MB of text. */
const valueWeight = 128
/** A body with fewer values takes about a millisecond. */
const manyValues = 10_000

const invalidJson = (): Problem =>
  new Problem('invalid-json', { detail: 'The body is not valid JSON. Send one JSON object in UTF-8.' })

/** Reads a JSON body. A body of another type is refused rather than passed over, which would look like an empty one. */
export function jsonBody(): RequestHandler[] {
  const type = ['application/json', 'application/*+json']
  return [requireJson(type), parseJson(inputLimits.restBody.max, type)]
}

/**
 * Reads a body of these types as JSON. It may have `bytesMax` bytes, and the depth and number of values of `inputLimits`. A compressed
 * body is refused: only its compressed size would count against the limits of its sender. A large body is checked and parsed while no other
 * long work is done, each step in an iteration of the event loop of its own; if its client disconnects meanwhile, it is dropped. Errors: `invalid-json`, `invalid-request`, `unsupported-media-type`, `payload-too-large`, `rate-limited`.
 */
export function parseJson(bytesMax: number, type: string[], strict = true): RequestHandler {
  return async (req, res, next) => {
    if (!plainTypes.has(req.headers['content-type'])) {
      if (!req.is(type)) return next()
      requireUtf8(req)
    }
    requireUncompressed(req)
    const bytes = await readBody(req, res, bytesMax)
    if (bytes !== undefined)
      req.body = bytes.length < sliceBytes ? parsed(bytes, res, strict) : await largeParsed(bytes, res, strict)
    next()
  }
}

/** For whom a body is read. */
const payerOf = (res: Response): string => callerOf(res)?.id ?? ''

/** A step of the work on a large body begins. Errors: `invalid-request` where its client has disconnected. */
async function beginStep(res: Response): Promise<void> {
  await beginSlice(payerOf(res))
  if (res.closed) throw unreadable()
}

/** Lets other requests go on between the work on a large body and what comes next. */
export const pauseAfterLarge: RequestHandler = (_req, res, next) => {
  if (hasLargeContent(res)) beginStep(res).then(() => next(), next)
  else next()
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

function parsed(bytes: Buffer, res: Response, strict: boolean): unknown {
  weighValues(bytes, res)
  requireStorableJson(bytes)
  // As Express does it: an empty body is an empty object.
  if (bytes.length === 0) return {}
  try {
    return ofRightKind(JSON.parse(withoutMark(bytes).toString()), strict)
  } catch {
    throw invalidJson()
  }
}

async function largeParsed(bytes: Buffer, res: Response, strict: boolean): Promise<unknown> {
  await beginStep(res)
  weighValues(bytes, res)
  await beginStep(res)
  requireStorableJson(bytes)
  const value = await parseInSlices(withoutMark(bytes), payerOf(res)).catch(() => {
    throw invalidJson()
  })
  await beginStep(res)
  return ofRightKind(value, strict)
}

function ofRightKind(value: unknown, strict: boolean): unknown {
  if (strict && (typeof value !== 'object' || value === null)) throw invalidJson()
  return value
}

/** A text in UTF-8 may begin with a byte order mark, which is not JSON. */
function withoutMark(bytes: Buffer): Buffer {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
}

function weighValues(bytes: Buffer, res: Response): void {
  const values = requireModestJson(bytes)
  if (values > manyValues) weighBody(res, bytes.length + valueWeight * values)
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

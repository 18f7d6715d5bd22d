import express, { type RequestHandler } from 'express'
import { Problem } from '../errors.ts'
import { inputLimits } from '../limits.ts'
import { requireModestJson, requireStorableJson } from './json-shape.ts'
import { readPlainJson } from './plain-json.ts'
import { unsupportedCharset } from './problem.ts'

/** Reads a JSON body. A body of another type is refused rather than passed over, which would look like an empty one. */
export function jsonBody(): RequestHandler[] {
  const type = ['application/json', 'application/*+json']
  return [requireJson(type), parseJson(inputLimits.restBody.max, type)]
}

/**
 * Reads a body of these types as JSON. It may have `bytesMax` bytes, and the depth and number of values of `inputLimits`. A compressed
 * body is refused: only its compressed size would count against the limits of its sender.
 */
export function parseJson(bytesMax: number, type: string[], strict = true): RequestHandler {
  const parser = express.json({
    limit: bytesMax,
    type,
    strict,
    inflate: false,
    verify: (_req, _res, text, charset) => verify(text, charset),
  })
  return readPlainJson(bytesMax, strict, parser)
}

/** The body parser writes its own fields into what is thrown here, so the problem travels as the cause. */
function verify(text: Buffer, charset: string): void {
  try {
    // Every other encoding would hide the shape from the bytes (RFC 8259 section 8.1 allows none).
    if (charset !== 'utf-8') throw new Problem('unsupported-media-type', { detail: unsupportedCharset })
    requireModestJson(text)
    requireStorableJson(text)
  } catch (cause) {
    throw new Error('The body was refused.', { cause })
  }
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

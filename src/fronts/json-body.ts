import express, { type RequestHandler } from 'express'
import { Problem } from '../errors.ts'

const bodyMax = '4mb'

/** Reads a JSON body. A body of another type is refused rather than passed over, which would look like an empty one. */
export function jsonBody(): RequestHandler[] {
  const type = ['application/json', 'application/*+json']
  return [requireJson(type), express.json({ limit: bodyMax, type })]
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

import type { Request } from 'express'
import { isJsonObject } from '../../lib/json.ts'

/** The id that an answer repeats: null when the request's own cannot be told (JSON-RPC 2.0 §5). */
export function rpcId(req: Request): string | number | null {
  const id = isJsonObject(req.body) ? req.body.id : null
  return typeof id === 'string' || Number.isInteger(id) ? (id as string | number) : null
}

import type { Request } from 'express'
import { isJsonObject } from '../../lib/json.ts'
import { sizeLimits } from '../../limits.ts'

/** The id that an answer repeats. null: the request has no valid id (JSON-RPC 2.0 §5), or it is too long to repeat. */
export function rpcId(req: Request): string | number | null {
  const id = isJsonObject(req.body) ? req.body.id : null
  if (typeof id === 'string') return id.length <= sizeLimits.id.max ? id : null
  return Number.isInteger(id) ? (id as number) : null
}

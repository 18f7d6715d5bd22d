import type { Request, Response } from 'express'
import { Problem } from '../../../errors.ts'

/** Errors: `method-not-allowed`. */
export function refuseMethod(req: Request, res: Response, _next?: () => void): never {
  res.setHeader('Allow', 'GET, POST, DELETE')
  throw new Problem('method-not-allowed', {
    detail: `/mcp does not support ${req.method} here. Send messages with POST.`,
  })
}

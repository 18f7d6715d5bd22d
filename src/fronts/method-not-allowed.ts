import type { RequestHandler } from 'express'
import { Problem } from '../errors.ts'

/** For the end of a path's handlers: what it does answer to. `OPTIONS` is answered with the same list. */
export function onlyMethods(...methods: readonly string[]): RequestHandler {
  const allow = methods.includes('GET') ? [...methods, 'HEAD', 'OPTIONS'] : [...methods, 'OPTIONS']
  return (req, res) => {
    res.setHeader('Allow', allow.join(', '))
    if (req.method === 'OPTIONS') return void res.status(204).end()
    throw new Problem('method-not-allowed', {
      detail: `${req.baseUrl}${req.path} does not support ${req.method}. It supports ${methods.join(', ')}.`,
      extra: { allowed: methods },
    })
  }
}

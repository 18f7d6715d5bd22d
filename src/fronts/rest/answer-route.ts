import type { Request, RequestHandler, Response } from 'express'
import { Problem } from '../../errors.ts'
import { callerOf } from '../auth.ts'
import { parse } from '../validate.ts'
import type { AnyRoute } from './route.ts'
import type { RouteMatch, RouteTable } from './route-table.ts'

/** Answers the routes of a table. A path with other methods is 405 with `Allow`; a path without a route goes to the next handler. */
export function answerRoutes<Context>(table: RouteTable<AnyRoute<Context>>, context: Context): RequestHandler {
  return async (req, res, next) => {
    const path = req.baseUrl + req.path
    const match = table.match(req.method, path)
    if (match) return answer(match, req, res, context)
    const methods = table.methodsOf(path)
    if (methods.length === 0) return next()
    refuseMethod(req, res, path, methods)
  }
}

async function answer<Context>(
  { route, params }: RouteMatch<AnyRoute<Context>>,
  req: Request,
  res: Response,
  context: Context,
): Promise<void> {
  const call = {
    req,
    res,
    caller: route.operation && callerOf(res),
    params: namedParams(route.route, params),
    body: route.body && parse(route.body, req.body),
    query: route.query && parse(route.query, req.query),
  }
  res.status(route.status)
  if (!route.operation) res.locals.route = route.route
  const view = await route.handle(call as never, context)
  if (res.headersSent) return
  if (route.status === 204) res.end()
  else res.json(view)
}

function namedParams(route: string, values: readonly string[]): Record<string, string> {
  const names = [...route.matchAll(/:(\w+)/g)].map(([, name]) => name!)
  return Object.fromEntries(names.map((name, at) => [name, decoded(values[at]!)]))
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch (cause) {
    throw new Problem('invalid-request', { detail: 'The request could not be read.', cause })
  }
}

/** Says what the path does answer to. `OPTIONS` is answered with the same list. */
function refuseMethod(req: Request, res: Response, path: string, methods: readonly string[]): void {
  const allow = methods.includes('GET') ? [...methods, 'HEAD', 'OPTIONS'] : [...methods, 'OPTIONS']
  res.setHeader('Allow', allow.join(', '))
  if (req.method === 'OPTIONS') return void res.status(204).end()
  throw new Problem('method-not-allowed', {
    detail: `${path} does not support ${req.method}. It supports ${methods.join(', ')}.`,
    extra: { allowed: methods },
  })
}

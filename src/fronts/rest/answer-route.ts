import type { Request, RequestHandler, Response } from 'express'
import { Problem } from '../../errors.ts'
import { requireStillValid } from '../../identity/authenticate.ts'
import { matchOf } from '../access/rest-access.ts'
import type { FrontContext } from '../front-context.ts'
import { slotOf } from '../http/admit-request.ts'
import { unsentOver } from '../http/answer-mail.ts'
import { bearerKey, callerOf } from '../http/auth.ts'
import { jsonBody } from '../http/json-body.ts'
import { notFound } from '../http/problem.ts'
import { untilGone } from '../http/until-gone.ts'
import { inOrder, passes } from '../in-order.ts'
import { callRoute } from './call-route.ts'
import { Reply } from './reply.ts'
import type { AnyRoute, OpenRoute } from './route.ts'
import type { RouteTable } from './route-table.ts'

/** Answers the routes that take no key. A path without a route goes to the next handler. */
export function answerOpenRoutes(table: RouteTable<OpenRoute>, context: FrontContext): RequestHandler {
  return async (req, res, next) => {
    const methods = table.methodsOf(req.path)
    if (methods.length === 0) return next()
    const match = table.match(req.method, req.path)
    if (!match) return refuseMethod(methods, req, res)
    res.locals.route = match.route.route
    const view = await match.route.handle({ req, res }, context)
    if (!res.headersSent) res.json(view)
  }
}

/** Answers the routes of a table for callers whose key is known, after `recordRest`. A path without a route is not found. */
export function answerRoutes(table: RouteTable<AnyRoute>, context: FrontContext): RequestHandler {
  const parseBody = inOrder(jsonBody(context))
  return async (req, res) => {
    const path = req.baseUrl + req.path
    const match = matchOf<AnyRoute>(res)
    if (!match) {
      const methods = table.methodsOf(path)
      return methods.length === 0 ? notFound(req, res, () => {}) : refuseMethod(methods, req, res)
    }
    const reply = new Reply(match.route.status)
    res.locals.reply = reply
    const call = {
      caller: callerOf(res),
      method: req.method,
      path,
      query: req.query,
      header: (name: string) => req.get(name),
      async readBody() {
        await passes(parseBody, req, res)
        requireStillValid(context, callerOf(res), bearerKey(req))
        return req.body
      },
      whenUnsent: unsentOver(res),
      untilGone: (...others: AbortSignal[]) => untilGone(res, ...others),
      slot: slotOf(res),
      answer: { sizeMax: context.answerMax },
      http: { req, res },
    }
    const view = await callRoute(context, match, call, reply)
    if (res.headersSent) return
    res.status(reply.status)
    for (const [name, value] of Object.entries(reply.headers)) res.setHeader(name, value)
    if (reply.status === 204) res.end()
    else res.json(view)
  }
}

/** Says what the path does answer to. `OPTIONS` is answered with the same list. */
function refuseMethod(methods: readonly string[], req: Request, res: Response): void {
  const allow = methods.includes('GET') ? [...methods, 'HEAD', 'OPTIONS'] : [...methods, 'OPTIONS']
  res.setHeader('Allow', allow.join(', '))
  if (req.method === 'OPTIONS') return void res.status(204).end()
  throw new Problem('method-not-allowed', {
    detail: `${req.baseUrl + req.path} does not support ${req.method}. It supports ${methods.join(', ')}.`,
    extra: { allowed: methods },
  })
}

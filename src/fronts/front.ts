import express, { type Express, type RequestHandler, type Response } from 'express'
import { Problem, toProblem } from '../errors.ts'
import { agentRoutes } from './a2a/agent-routes.ts'
import { answerA2aProblem } from './a2a/answer.ts'
import type { RestOperation } from './access/operation.ts'
import { recordAnswers, recordRest } from './access/rest-access.ts'
import { admitRequest } from './http/admit-request.ts'
import { actInProject, requireKey } from './http/auth.ts'
import { protect } from './http/challenge.ts'
import { countAnswers } from './http/count-answers.ts'
import { answerInFull, endAnswers } from './http/express-messages.ts'
import { metricsRoutes } from './http/metrics.ts'
import { notFound, problemHandler, sendProblem } from './http/problem.ts'
import { inOrder } from './in-order.ts'
import { callInSession } from './mcp/http/call-in-session.ts'
import type { McpFrontContext } from './mcp/http/context.ts'
import { mcpRoutes } from './mcp/http/routes.ts'
import { createLocalApi } from './mcp/local-api.ts'
import { noteRefusal } from './note-refusal.ts'
import { answerOpenRoutes, answerRoutes } from './rest/answer-route.ts'
import { openTable, restTable } from './rest/table.ts'

/** Not every store can carry U+0000, so no id, name or query may hold it. */
const refuseUnstorableUrl: RequestHandler = (req, _res, next) => {
  if (!req.url.includes('%00')) return next()
  throw new Problem('invalid-request', { detail: 'The URL holds U+0000 (%00). Take it out.' })
}

/** Everything that answers HTTP: A2A for peers, REST for harnesses and operators. */
export function createFront(context: Omit<McpFrontContext, 'callApi'>): Express {
  const { admission, metrics } = context
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.set('query parser', 'simple')
  answerInFull(app)
  const refuse = (res: Response, error: unknown): void => {
    noteRefusal(metrics, error)
    refuseAnswer(res, error)
  }
  endAnswers(app, (end) => recordAnswers(countAnswers(admission.unread, refuse, end)))
  app.use(inOrder([protect(context, ''), refuseUnstorableUrl]))

  const a2a = agentRoutes(context)
  app.get('/agents/.well-known/{*file}', () => {
    throw new Problem('not-found', {
      detail: 'A card belongs to one agent: give clients its address with a slash at the end, e.g. /agents/donna/.',
    })
  })
  app.use('/agents/:handle', a2a)
  app.use('/projects/:project/agents/:handle', a2a)

  // The key before the body: the gateway parses nothing for callers without one.
  app.use(
    '/v1',
    inOrder([
      recordRest(context, restTable),
      requireKey(context),
      admitRequest(admission, isRevocation),
      actInProject(context),
      answerRoutes(restTable, context),
    ]),
  )
  app.use(answerOpenRoutes(openTable, context))
  if (context.metricsPage) app.use(metricsRoutes(context, context.metricsPage))
  const callApi = callInSession(context, createLocalApi(context))
  app.use('/mcp', protect(context, '/mcp'), mcpRoutes({ callApi, ...context }))
  app.use(notFound)
  app.use(problemHandler(context))
  return app
}

function isRevocation({ locals }: Response): boolean {
  return (locals.operation as RestOperation | undefined)?.isRevocation === true
}

/** Refuses an answer for which there is no room, in the form of what was called. */
function refuseAnswer(res: Response, error: unknown): void {
  const problem = toProblem(error)
  res.locals.problem = problem.code
  if (res.locals.agent === undefined) sendProblem(res, problem, res.req.originalUrl.split('?')[0] ?? '/')
  else answerA2aProblem(res.req, res, problem)
}

import { Router } from 'express'
import { authorise } from '../access/authorise.ts'
import type { RestOperation } from '../access/operation.ts'
import { recordRest } from '../access/rest-access.ts'
import type { FrontContext, MetricsPage } from '../front-context.ts'
import { routeTable } from '../rest/route-table.ts'
import { admitRequest } from './admit-request.ts'
import { callerOf, requireKey } from './auth.ts'

/** Figures name no project and no agent, so an operator of some projects may read them too. */
export const metricsOperation: RestOperation = {
  route: 'GET /metrics',
  name: 'metrics.read',
  what: 'read the metrics',
  scope: 'read',
  operator: 'any',
  agent: 'never',
  peer: 'never',
  audited: 'no',
}

const table = routeTable([{ route: 'GET /metrics', operation: metricsOperation } as const])

/** `/metrics`: the figures of this gateway for Prometheus. */
export function metricsRoutes(context: FrontContext, { isOpen, write }: MetricsPage): Router {
  const router = Router()
  const { admission } = context
  // Figures are needed most when the gateway has too much work: some requests of each key are answered then too.
  if (!isOpen)
    router.use(
      '/metrics',
      recordRest(context, table),
      requireKey(context),
      admitRequest(admission, () => true),
    )
  router.get('/metrics', async (_req, res) => {
    res.locals.route = metricsOperation.route
    if (!isOpen) authorise(metricsOperation, callerOf(res))
    const { type, text } = await write()
    res.setHeader('Content-Type', type)
    res.setHeader('Cache-Control', 'no-store')
    res.end(text)
  })
  return router
}

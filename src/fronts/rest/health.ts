import { Router } from 'express'
import { defaultProject, requireProject } from '../../registry/project-store.ts'
import type { Database } from '../../storage/database.ts'
import { onlyMethods } from '../method-not-allowed.ts'

/** `/healthz`: the process answers. `/readyz`: the store can be read and wakes are dispatched. */
export function healthRoutes(context: { db: Database; isReady: () => boolean; stopping: AbortSignal }): Router {
  const router = Router()
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' })
  })
  router.get('/readyz', async (_req, res) => {
    const store = await requireProject(context.db, defaultProject).then(
      () => true,
      () => false,
    )
    const dispatcher = context.isReady()
    const ready = store && dispatcher && !context.stopping.aborted
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not-ready', store, dispatcher })
  })
  router.all(['/healthz', '/readyz'], onlyMethods('GET'))
  return router
}

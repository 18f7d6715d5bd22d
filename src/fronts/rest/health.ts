import { Router } from 'express'
import type { Clock } from '../../lib/clock.ts'
import { defaultProject, requireProject } from '../../registry/projects/project-store.ts'
import type { Database } from '../../storage/database.ts'
import { onlyMethods } from '../method-not-allowed.ts'

/** A store that takes longer than this for one row by its key is none. Whoever asks wants an answer within a few seconds. */
const readMaxMs = 2_000

interface HealthContext {
  readonly db: Database
  readonly clock: Clock
  readonly isReady: () => boolean
  readonly stopping: AbortSignal
}

/** `/healthz`: the process answers. `/readyz`: the store can be read and wakes are dispatched, or 503 within about two seconds. */
export function healthRoutes(context: HealthContext): Router {
  const router = Router()
  router.get('/healthz', (_req, res) => {
    res.json({ status: 'ok' })
  })
  router.get('/readyz', async (_req, res) => {
    const store = await canRead(context)
    const dispatcher = context.isReady()
    const ready = store && dispatcher && !context.stopping.aborted
    res.status(ready ? 200 : 503).json({ status: ready ? 'ready' : 'not-ready', store, dispatcher })
  })
  router.all(['/healthz', '/readyz'], onlyMethods('GET'))
  return router
}

function canRead({ db, clock }: HealthContext): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(readMaxMs, () => resolve(false))
    requireProject(db, defaultProject)
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(cancel)
  })
}

import type { Clock } from '../../lib/clock.ts'
import { defaultProject, requireProject } from '../../registry/projects/project-store.ts'
import type { Database } from '../../storage/database.ts'
import { openRoute } from './route.ts'

/** A store that takes longer than this for one row by its key counts as down. Callers want an answer within a few seconds. */
const readMaxMs = 2_000

export interface HealthContext {
  readonly db: Database
  readonly clock: Clock
  readonly isReady: () => boolean
  readonly stopping: AbortSignal
}

/** `/healthz`: the process answers. `/readyz`: the store can be read and wakes are dispatched, or 503 within about two seconds. */
export const healthRoutes = [
  openRoute('GET /healthz', async () => ({ status: 'ok' as const })),
  openRoute('GET /readyz', async ({ res }, context: HealthContext) => {
    const store = await canRead(context)
    const dispatcher = context.isReady()
    const ready = store && dispatcher && !context.stopping.aborted
    res.status(ready ? 200 : 503)
    return { status: ready ? ('ready' as const) : ('not-ready' as const), store, dispatcher }
  }),
] as const

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

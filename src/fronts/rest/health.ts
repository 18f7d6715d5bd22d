import { isReady, type ReadinessProbe } from '../readiness.ts'
import { openRoute } from './route.ts'

export interface HealthContext {
  readonly readiness: ReadinessProbe
  readonly stopping: AbortSignal
}

/**
 * `/healthz`: the process answers. `/readyz`: the store can be read and written, due wakes are claimed and the clock is right, or
 * 503 within about two seconds. The store is tried at most once a second.
 */
export const healthRoutes = [
  openRoute('GET /healthz', async () => ({ status: 'ok' as const })),
  openRoute('GET /readyz', async ({ res }, { readiness, stopping }: HealthContext) => {
    const found = await readiness.check()
    const ready = isReady(found) && !stopping.aborted
    res.status(ready ? 200 : 503)
    return { status: ready ? ('ready' as const) : ('not-ready' as const), ...found }
  }),
] as const

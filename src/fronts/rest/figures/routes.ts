import { z } from 'zod'
import { minutesMax } from '../../../wakes/read/figures.ts'
import { count } from '../fields.ts'
import { instant } from '../instant.ts'
import { route } from '../route.ts'

const figuresQuery = z.strictObject({ minutes: count(1, minutesMax).optional() })

/** Wakes, and how long they took from their newest event to the acknowledgement. */
interface Figure {
  readonly delivered: number
  readonly failed: number
  /** Those that are still tried. */
  readonly open: number
  /** The median; null: none has arrived. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** The wakes of the last minutes, each in the minute of its newest event. Instants are ISO 8601. */
export interface FiguresView {
  /** Later than was asked for where there are more wakes than are counted. */
  readonly from: string
  readonly to: string
  readonly bucketSeconds: number
  /** The oldest first, also those without a wake. */
  readonly buckets: readonly (Figure & { readonly at: string })[]
  readonly totals: Figure
}

/** `/v1/figures`: wakes over time, of a project or of an agent. */
export const figureRoutes = [
  route('GET /v1/figures', {
    name: 'figure.read',
    what: 'read how many wakes arrived, and how fast',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: figuresQuery,
    handle: async ({ caller, query }, { readFigures, clock }): Promise<FiguresView> => {
      const of = caller.kind === 'agent' ? { agentId: caller.id } : { projectId: caller.projectId }
      const { from, minutes, totals } = await readFigures(of, query.minutes ?? minutesMax)
      const buckets = minutes.map(({ at, ...figure }) => ({ at: instant(at), ...figure }))
      return { from: instant(from), to: instant(clock.now()), bucketSeconds: 60, buckets, totals }
    },
  }),
] as const

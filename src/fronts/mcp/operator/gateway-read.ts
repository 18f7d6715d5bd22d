import { z } from 'zod'
import type { AskApi } from '../ask-api.ts'
import { Refused } from '../refused.ts'
import { compact } from '../tools/compact.ts'
import { reads } from '../tools/tool.ts'
import { countsOf } from './needs-read.ts'
import { operatorTool } from './operator-tool.ts'

/** Subscriptions and deliveries that are counted. */
const countedMax = { subscriptions: 500, deliveries: 200 }

const counts = z.record(z.string(), z.int())

export const gatewayRead = operatorTool({
  name: 'gateway_read',
  scopes: ['read'],
  title: 'The gateway at a glance',
  description:
    'Shows on one screen whether the gateway is well: whether it is ready and what it lacks, the gate of recovery in the project, and counts: of subscriptions by status, of the newest deliveries by outcome, and of what waits for a person, by urgency and by kind. It also says whose key you have, and for which project. Figures over time are at /metrics, for a program.',
  input: z.strictObject({}),
  output: z.looseObject({
    ready: z.boolean(),
    lacks: z.array(z.string()).optional().describe('store, writes, dispatcher or clock: ask whoever runs the gateway'),
    project: z.string(),
    role: z.string().optional(),
    scopes: z.array(z.string()),
    gate: z.looseObject({ nudges: z.string(), restarts: z.string() }),
    subscriptions: counts.describe(`By status; of the first ${countedMax.subscriptions}`),
    deliveries: counts.describe(`By outcome; of the newest ${countedMax.deliveries}`),
    deliveriesSince: z.string().optional().describe('The oldest delivery that is counted'),
    needsByUrgency: counts.describe('stops: work stands still until a person acts'),
    needs: counts.describe('By kind, of an agent 1,000 at most; needs_read lists them'),
  }),
  annotations: reads,
  say: ({ ready, lacks = [], project }) =>
    `The gateway is ${ready ? 'ready' : `not ready: it lacks ${lacks.join(', ')}`}. The project is ${project}.`,
  run: async (api) => {
    const { rest } = api
    const lacks = await lacksOf(api)
    const { project, role, scopes } = await rest('GET /v1/whoami')
    const { nudges, restarts, reason, since } = await rest('GET /v1/gate')
    const { subscriptions } = await rest('GET /v1/wake-subscriptions', { query: { limit: countedMax.subscriptions } })
    const { deliveries } = await rest('GET /v1/deliveries', { query: { limit: countedMax.deliveries } })
    const { total: needs, counts: needsByUrgency } = await rest('GET /v1/needs', { query: { limit: 1 } })
    return compact({
      ready: lacks.length === 0,
      lacks,
      project,
      role: role ?? null,
      scopes,
      gate: compact({ nudges, restarts, reason, since }),
      subscriptions: countsOf(subscriptions.map(({ status }) => status)),
      deliveries: countsOf(deliveries.map(({ outcome }) => outcome)),
      deliveriesSince: deliveries.at(-1)?.createdAt ?? null,
      needsByUrgency,
      needs,
    })
  },
})

/** The faults that the gateway reports of itself. Errors: `Refused` for every other answer. */
async function lacksOf({ request }: AskApi): Promise<string[]> {
  try {
    await request({ method: 'GET', path: '/readyz' })
    return []
  } catch (error) {
    if (!(error instanceof Refused) || error.problem.status !== 'not-ready') throw error
    const lacks = Object.entries(error.problem).filter(([, isThere]) => isThere === false)
    return lacks.length === 0 ? ['time: it stops'] : lacks.map(([name]) => name)
  }
}

import { route } from '../route.ts'
import { collectNeeds, needsMax } from './collect.ts'
import type { NeedsView } from './view.ts'

/** `/v1/needs`: what waits for a person, over all agents. An agent sees what concerns it. */
export const needRoutes = [
  route('GET /v1/needs', {
    name: 'need.list',
    what: 'see what waits for a person',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    handle: async ({ caller }, { db, clock }): Promise<NeedsView> => {
      const lists = await collectNeeds({ db, caller, now: clock.now() })
      const needs = lists.flat().sort((one, other) => (one.since < other.since ? -1 : 1))
      return { needs, more: lists.some((list) => list.length >= needsMax) }
    },
  }),
] as const

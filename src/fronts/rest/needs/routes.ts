import { snoozeNeed } from '../../../needs/snooze.ts'
import { instantOrNull } from '../instant.ts'
import { route } from '../route.ts'
import { findWaiting } from './collect.ts'
import { needQuery, snoozeInput } from './input.ts'
import { listNeeds } from './list.ts'
import type { NeedsView, SnoozedView } from './view.ts'

/** `/v1/needs`: what waits for a person, over all agents. An agent sees what concerns it. */
export const needRoutes = [
  route('GET /v1/needs', {
    name: 'need.list',
    what: 'see what waits for a person',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: needQuery,
    handle: ({ caller, query }, { db, clock }): Promise<NeedsView> =>
      listNeeds({ db, caller, now: clock.now() }, query),
  }),
  route('POST /v1/needs/snooze', {
    name: 'need.snooze',
    what: 'put off what waits for a person',
    access: { scope: 'work', operator: 'any', agent: 'never', peer: 'never', audited: 'soon' },
    body: snoozeInput,
    handle: async ({ caller, body, reply }, { db, clock }): Promise<SnoozedView> => {
      reply.target = body.need
      const found = await findWaiting({ db, caller, now: clock.now() }, body.need)
      await snoozeNeed(db, caller, found, body)
      return { need: body.need, snoozedUntil: instantOrNull(body.until) }
    },
  }),
] as const

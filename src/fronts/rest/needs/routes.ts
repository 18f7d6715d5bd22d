import { needIdOf } from '../../../needs/need.ts'
import { listTold } from '../../../needs/need-store.ts'
import { snoozeNeed } from '../../../needs/snooze.ts'
import { isSnoozed } from '../../../needs/telling.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { Reader } from '../../../storage/database.ts'
import { instant, instantOrNull } from '../instant.ts'
import { route } from '../route.ts'
import { readNeeds } from './collect.ts'
import { snoozeInput } from './input.ts'
import type { NeedFields, NeedsView, NeedView, SnoozedView } from './view.ts'

/** `/v1/needs`: what waits for a person, over all agents. An agent sees what concerns it. */
export const needRoutes = [
  route('GET /v1/needs', {
    name: 'need.list',
    what: 'see what waits for a person',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    handle: async ({ caller }, { db, clock }): Promise<NeedsView> => {
      const now = clock.now()
      const { needs, isCut } = await readNeeds({ db, caller, now })
      return { needs: await withSnoozes(db, caller, needs, now), more: isCut }
    },
  }),
  route('POST /v1/needs/snooze', {
    name: 'need.snooze',
    what: 'put off what waits for a person',
    access: { scope: 'work', operator: 'any', agent: 'never', peer: 'never', audited: 'soon' },
    body: snoozeInput,
    handle: async ({ caller, body, reply }, { db, clock }): Promise<SnoozedView> => {
      reply.target = body.need
      const { needs } = await readNeeds({ db, caller, now: clock.now() })
      await snoozeNeed(db, caller, needs, body)
      return { need: body.need, snoozedUntil: instantOrNull(body.until) }
    },
  }),
] as const

/** The snoozes of a project are those of its operators: an agent sees none. */
async function withSnoozes(
  db: Reader,
  { kind, projectId }: Caller,
  needs: readonly NeedFields[],
  now: number,
): Promise<NeedView[]> {
  const told = kind === 'operator' ? await listTold(db, projectId) : []
  const known = new Map(told.map((one) => [one.id, one]))
  return needs.map((need) => {
    const id = needIdOf(need)
    const one = known.get(id)
    const isOff = one !== undefined && isSnoozed(one, need.kind, now)
    return { id, ...need, ...(isOff ? { snoozedUntil: instant(one.snoozedUntil) } : {}) }
  })
}

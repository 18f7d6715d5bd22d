import { needIdOf } from '../../../needs/need.ts'
import { listTold } from '../../../needs/need-store.ts'
import { snoozeNeed } from '../../../needs/snooze.ts'
import { isSnoozed } from '../../../needs/telling.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { Reader } from '../../../storage/database.ts'
import { instant, instantOrNull } from '../instant.ts'
import { listMax, readPosition } from '../page.ts'
import { route } from '../route.ts'
import { readNeeds } from './collect.ts'
import { countedMax, findNeed, type NeedGroup, pageOfNeeds } from './groups.ts'
import { needQuery, snoozeInput } from './input.ts'
import type { FoldedView, NeedFields, NeedsView, NeedView, SnoozedView } from './view.ts'

/** The most needs of an agent and kind in the list of all. */
const listedMax = 5

/** `/v1/needs`: what waits for a person, over all agents. An agent sees what concerns it. */
export const needRoutes = [
  route('GET /v1/needs', {
    name: 'need.list',
    what: 'see what waits for a person',
    access: { scope: 'read', operator: 'any', agent: 'own', peer: 'never', audited: 'no' },
    query: needQuery,
    handle: async ({ caller, query }, { db, clock }): Promise<NeedsView> => {
      const now = clock.now()
      const { kind, agent, limit = listMax, pageToken } = query
      const isOf = (group: NeedGroup): boolean =>
        (kind ?? group.kind) === group.kind && (agent === undefined || [agent, `@${agent}`].includes(group.agent ?? ''))
      const asking = { db, caller, now, share: listedMax }
      const groups = (await readNeeds(asking)).filter(isOf)
      const isWhole = agent !== undefined
      const page = await pageOfNeeds(groups, { isWhole, after: readPosition(pageToken), limit })
      const { needs, nextPageToken } = page
      const folded = isWhole ? [] : foldedIn(groups)
      const more = folded.length > 0 || nextPageToken !== ''
      return { needs: await withSnoozes(db, caller, needs, now), more, folded, ...totalsOf(groups), nextPageToken }
    },
  }),
  route('POST /v1/needs/snooze', {
    name: 'need.snooze',
    what: 'put off what waits for a person',
    access: { scope: 'work', operator: 'any', agent: 'never', peer: 'never', audited: 'soon' },
    body: snoozeInput,
    handle: async ({ caller, body, reply }, { db, clock }): Promise<SnoozedView> => {
      reply.target = body.need
      const groups = await readNeeds({ db, caller, now: clock.now(), share: listedMax })
      await snoozeNeed(db, caller, await findNeed(db, groups, body.need), body)
      return { need: body.need, snoozedUntil: instantOrNull(body.until) }
    },
  }),
] as const

/** The needs of each agent and kind that are not listed. */
const foldedIn = (groups: readonly NeedGroup[]): FoldedView[] =>
  groups.flatMap(({ kind, agent, needs, total }) => {
    const count = Math.min(total, countedMax) - needs.length
    return count > 0 ? [{ kind, agent, count, atLeast: total > countedMax }] : []
  })

function totalsOf(groups: readonly NeedGroup[]): Pick<NeedsView, 'total' | 'atLeast'> {
  const total: Record<string, number> = {}
  for (const group of groups) total[group.kind] = (total[group.kind] ?? 0) + Math.min(group.total, countedMax)
  return { total, atLeast: [...new Set(groups.filter((one) => one.total > countedMax).map(({ kind }) => kind))] }
}

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

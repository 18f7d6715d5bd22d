import { needIdOf } from '../../../needs/need.ts'
import { listNotices } from '../../../needs/need-store.ts'
import { snoozeNeed } from '../../../needs/snooze.ts'
import { isSnoozed } from '../../../needs/telling.ts'
import { instant, instantOrNull } from '../instant.ts'
import { listMax, pageOf, positionToken, readPosition } from '../page.ts'
import { route } from '../route.ts'
import { findWaiting, readWaiting } from './collect.ts'
import { needQuery, snoozeInput } from './input.ts'
import type { FoldedView, NeedFields, NeedsView, NeedView, SnoozedView } from './view.ts'
import { byPlace, countedMax, groupsOf, isAfter, type NeedReader, type WaitingNeed } from './waiting.ts'

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
      const asking = { db, caller, now: clock.now() }
      const { kind, agent, limit = listMax, pageToken } = query
      const after = readPosition(pageToken)
      const isAsked = (one: WaitingNeed): boolean =>
        (kind ?? one.kind) === one.kind && (agent === undefined || [agent, `@${agent}`].includes(one.agent ?? ''))
      const listed = (await readWaiting(asking, { share: listedMax })).filter(isAsked)
      const rest = async (owner: string) => readWaiting(asking, { share: limit + 1, after, owner })
      const owners = agent === undefined ? [] : [...new Set(listed.map(({ owner }) => owner))]
      const all = (await Promise.all(owners.map(rest))).flat().filter(isAsked)
      const found = agent === undefined ? listed.filter((one) => isAfter(one, after)) : all.sort(byPlace)
      const { items, nextPageToken } = pageOf(found, limit, positionToken)
      const needs = await withSnoozes(asking, await Promise.all(items.map(({ load }) => load())))
      const folded = agent === undefined ? groupsOf(listed).flatMap(foldedOf) : []
      return { needs, more: folded.length > 0 || nextPageToken !== '', folded, ...totalsOf(listed), nextPageToken }
    },
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

/** The needs of an owner and kind that are not listed. */
function foldedOf(group: readonly WaitingNeed[]): FoldedView[] {
  const { kind, agent, total } = group[0]!
  const count = Math.min(total, countedMax) - group.length
  return count > 0 ? [{ kind, agent, count, atLeast: total > countedMax }] : []
}

function totalsOf(listed: readonly WaitingNeed[]): Pick<NeedsView, 'total' | 'atLeast'> {
  const total: Record<string, number> = {}
  const groups = groupsOf(listed).map((group) => group[0]!)
  for (const one of groups) total[one.kind] = (total[one.kind] ?? 0) + Math.min(one.total, countedMax)
  return { total, atLeast: [...new Set(groups.filter((one) => one.total > countedMax).map(({ kind }) => kind))] }
}

/** The snoozes of a project are those of its operators: an agent sees none. */
async function withSnoozes({ db, caller, now }: NeedReader, needs: readonly NeedFields[]): Promise<NeedView[]> {
  const notices = caller.kind === 'operator' ? await listNotices(db, caller.projectId) : []
  const known = new Map(notices.map((one) => [one.id, one]))
  return needs.map((need) => {
    const id = needIdOf(need)
    const one = known.get(id)
    const isOff = one !== undefined && isSnoozed(one, need.kind, now)
    return { id, ...need, ...(isOff ? { snoozedUntil: instant(one.snoozedUntil) } : {}) }
  })
}

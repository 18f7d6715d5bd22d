import { needIdOf } from '../../../needs/need.ts'
import { listNotices } from '../../../needs/need-store.ts'
import { isSnoozed, type NeedNotice } from '../../../needs/telling.ts'
import { comparePlaces, type Place, type Urgency, urgencies, urgencyOf } from '../../../needs/urgency.ts'
import { instant } from '../instant.ts'
import { listMax, pageOf, positionToken, readPosition, unknownPageToken } from '../page.ts'
import { readWaiting, start } from './collect.ts'
import type { FoldedView, NeedFields, NeedGroup, NeedsView, NeedView } from './view.ts'
import { countedMax, groupsOf, isAfter, type NeedReader, type WaitingNeed } from './waiting.ts'

/** The most needs of an agent and kind in the list of all. */
const listedMax = 5
const groupsMax = 500

interface NeedQuery {
  readonly urgency?: Urgency | undefined
  readonly kind?: string | undefined
  readonly agent?: string | undefined
  readonly limit?: number | undefined
  readonly pageToken?: string | undefined
}

/** Lists what waits for a person, the most urgent first: of an agent and kind five, with `agent` all. Errors: `invalid-request` for another page token. */
export async function listNeeds(asking: NeedReader, query: NeedQuery): Promise<NeedsView> {
  const { agent, limit = listMax, pageToken } = query
  const after = readPlace(pageToken)
  const isAsked = (one: Pick<WaitingNeed, 'urgency' | 'kind' | 'agent'>): boolean =>
    (query.urgency ?? one.urgency) === one.urgency &&
    (query.kind ?? one.kind) === one.kind &&
    (agent === undefined || [agent, `@${agent}`].includes(one.agent ?? ''))
  const everything = await readWaiting(asking, { share: listedMax })
  const listed = everything.filter(isAsked)
  const rest = async (owner: string) => readWaiting(asking, { share: limit + 1, after, owner })
  const owners = agent === undefined ? [] : [...new Set(listed.map(({ owner }) => owner))]
  const all = (await Promise.all(owners.map(rest))).flat().filter(isAsked)
  const found = agent === undefined ? listed.filter((one) => isAfter(one, after)) : all.sort(comparePlaces)
  const { items, nextPageToken } = pageOf(found, limit, placeToken)
  const snoozed = await readSnoozed(asking)
  const needs = (await Promise.all(items.map(({ load }) => load()))).map((need) => viewOf(need, snoozed, asking.now))
  const folded = agent === undefined ? groupsOf(listed).flatMap(foldedOf) : []
  const groups = await readGroups(asking, everything, snoozed)
  return {
    needs,
    more: folded.length > 0 || nextPageToken !== '',
    folded,
    groups: groups.filter(isAsked).slice(0, groupsMax),
    ...countsOf(groups),
    ...totalsOf(listed),
    nextPageToken,
  }
}

const placeToken = (place: Place): string => `${place.urgency}.${positionToken(place)}`

/** A token of a list in another order names no urgency. */
function readPlace(token: string | undefined): Place {
  if (!token) return start
  const [word, position] = token.split('.')
  const urgency = urgencies.find((one) => one === word)
  if (!urgency || !position) throw unknownPageToken()
  return { urgency, ...readPosition(position) }
}

/** What was put off, by the id of the need. The snoozes of a project are those of its operators: an agent sees none. */
async function readSnoozed({ db, caller, now }: NeedReader): Promise<ReadonlyMap<string, NeedNotice>> {
  const notices = caller.kind === 'operator' ? await listNotices(db, caller.projectId) : []
  return new Map(notices.filter(({ snoozedUntil }) => snoozedUntil > now).map((one) => [one.id, one]))
}

function viewOf(need: NeedFields, snoozed: ReadonlyMap<string, NeedNotice>, now: number): NeedView {
  const id = needIdOf(need)
  const one = snoozed.get(id)
  const isOff = one !== undefined && isSnoozed(one, need.kind, now)
  return { id, urgency: urgencyOf[need.kind], ...need, ...(isOff ? { snoozedUntil: instant(one.snoozedUntil) } : {}) }
}

/** The needs of an owner and kind that are not listed. */
function foldedOf(group: readonly WaitingNeed[]): FoldedView[] {
  const { kind, agent, total } = group[0]!
  const count = Math.min(total, countedMax) - group.length
  return count > 0 ? [{ kind, agent, count, atLeast: total > countedMax }] : []
}

/** Reads what waits by owner and kind, the most urgent first, without what was put off. */
export async function readOpenGroups(asking: NeedReader): Promise<NeedGroup[]> {
  return readGroups(asking, await readWaiting(asking, { share: listedMax }), await readSnoozed(asking))
}

/** What waits by owner and kind, without what was put off. All of a group is read where that may be beyond what is listed. */
async function readGroups(
  asking: NeedReader,
  listed: readonly WaitingNeed[],
  snoozed: ReadonlyMap<string, NeedNotice>,
): Promise<NeedGroup[]> {
  const agents = new Set([...snoozed.values()].map(({ agent }) => agent))
  const read = async (group: readonly WaitingNeed[]): Promise<NeedGroup[]> => {
    const { urgency, kind, agent, owner, total } = group[0]!
    const isCut = total > group.length && agents.has(agent)
    const whole = isCut ? await readWaiting(asking, { share: countedMax + 1, owner }) : group
    const own = isCut ? whole.filter((one) => one.kind === kind) : group
    const open = own.filter(({ id }) => {
      const one = snoozed.get(id)
      return one === undefined || !isSnoozed(one, kind, asking.now)
    })
    if (open.length === 0) return []
    const count = Math.min(total - own.length + open.length, countedMax)
    return [{ urgency, kind, agent, count, atLeast: total > countedMax, since: instant(open[0]!.createdAt) }]
  }
  return (await Promise.all(groupsOf(listed).map(read))).flat()
}

function countsOf(groups: readonly NeedGroup[]): Pick<NeedsView, 'counts' | 'countsAtLeast'> {
  const counts: Record<Urgency, number> = { stops: 0, wakes: 0, late: 0, mail: 0 }
  for (const { urgency, count } of groups) counts[urgency] += count
  const more = new Set(groups.filter(({ atLeast }) => atLeast).map(({ urgency }) => urgency))
  return { counts, countsAtLeast: urgencies.filter((one) => more.has(one)) }
}

function totalsOf(listed: readonly WaitingNeed[]): Pick<NeedsView, 'total' | 'atLeast'> {
  const total: Record<string, number> = {}
  const groups = groupsOf(listed).map((group) => group[0]!)
  for (const one of groups) total[one.kind] = (total[one.kind] ?? 0) + Math.min(one.total, countedMax)
  return { total, atLeast: [...new Set(groups.filter((one) => one.total > countedMax).map(({ kind }) => kind))] }
}

import type { NeedKind } from '../../../needs/need.ts'
import { needIdOf } from '../../../needs/need.ts'
import type { Reader } from '../../../storage/database.ts'
import { findTask } from '../../../tasks/task-store.ts'
import { nextToken, type Position, positionToken } from '../page.ts'
import type { NeedFields } from './view.ts'

/** The most that is counted of one agent and kind. */
export const countedMax = 1_000

/** The needs of one agent and one kind. So one agent's many hide nothing of another. */
export interface NeedGroup {
  readonly kind: NeedKind
  readonly agent: string | null
  /** Its longest waits, a share of them. */
  readonly needs: readonly NeedFields[]
  /** How many there are. More than `countedMax`: at least so many. */
  readonly total: number
  /** Reads those after a place, also the ones beyond the share. */
  readonly page: (after: Position, limit: number) => Promise<readonly NeedFields[]>
}

/** A row of which a need is made. */
export interface Found<Row> {
  readonly kind: NeedKind
  /** Whose it is: the groups are those of each owner and kind. */
  readonly owner: string
  readonly at: Position
  /** How many there are in a part of its group. */
  readonly total: number
  readonly part?: boolean
  readonly row: Row
}

/** A range of owners, and the most rows of each after a place. */
export interface Wanted {
  readonly first: string
  readonly last: string
  readonly after: Position
  readonly limit: number
}

/** The rows of some kinds, from a store that finds those of each owner without reading the others. */
export interface Source<Row> {
  /** An agent has few, which are read at once: their places are known when they are read. */
  readonly isShort?: true
  /** Returns at least the rows that are wanted. */
  readonly read: (wanted: Wanted) => Promise<readonly Found<Row>[]>
  /** Makes the needs of one agent. */
  readonly needsOf: (rows: readonly Row[], kind: NeedKind) => Promise<readonly NeedFields[]>
}

const start: Position = { createdAt: -1, id: '' }
const everybody = { first: '', last: '~' }

/** Reads a share of the rows of each owner. */
export async function readGroups<Row>({ isShort, read, needsOf }: Source<Row>, share: number): Promise<NeedGroup[]> {
  const groups = new Map<string, Found<Row>[]>()
  for (const found of await read({ ...everybody, after: start, limit: share })) {
    const name = `${found.kind} ${found.owner}`
    groups.set(name, [...(groups.get(name) ?? []), found])
  }
  const made = [...groups.values()].map(async (all): Promise<NeedGroup | undefined> => {
    const { kind, owner } = all[0]!
    const make = (found: readonly Found<Row>[], after: Position, limit: number) => {
      const own = found.filter((one) => one.owner === owner && one.kind === kind && isAfter(one.at, after))
      const rows = own.sort((one, other) => (isAfter(one.at, other.at) ? 1 : -1)).map(({ row }) => row)
      return needsOf(rows.slice(0, limit), kind)
    }
    const needs = await make(all, start, share)
    if (needs.length === 0) return undefined
    const parts = [...new Map(all.map(({ part, total }) => [part, total])).values()]
    const total = parts.reduce((sum, one) => sum + one, 0)
    const page: NeedGroup['page'] = async (...place) => {
      const [after, limit] = isShort ? ([start, countedMax] as const) : place
      return make(await read({ first: owner, last: owner, after, limit }), after, limit)
    }
    return { kind, agent: needs[0]!.agent, needs, total: Math.max(all.length, total), page }
  })
  return (await Promise.all(made)).filter((group) => group !== undefined)
}

/** A group for each need of a kind of which an agent has one at most. */
export const groupsOfOne = (needs: readonly NeedFields[]): NeedGroup[] =>
  needs.map((need) => ({ kind: need.kind, agent: need.agent, needs: [need], total: 1, page: async () => [need] }))

/** The place of a need in a list: the longest wait first. */
const placeOf = (need: NeedFields): Position => ({ createdAt: Date.parse(need.since), id: needIdOf(need) })

const isAfter = (one: Position, other: Position): boolean =>
  one.createdAt === other.createdAt ? one.id > other.id : one.createdAt > other.createdAt

/** Returns a page of the needs of groups, the longest wait first. `isWhole`: also what is beyond their shares. */
export async function pageOfNeeds(
  groups: readonly NeedGroup[],
  { isWhole, after = start, limit }: { isWhole: boolean; after?: Position; limit: number },
): Promise<{ needs: NeedFields[]; nextPageToken: string }> {
  const lists = isWhole
    ? await Promise.all(groups.map(({ page }) => page(after, limit + 1)))
    : groups.map((g) => g.needs)
  const found = lists
    .flat()
    .map((need) => ({ need, at: placeOf(need) }))
    .filter(({ at }) => isAfter(at, after))
    .sort((one, other) => (isAfter(one.at, other.at) ? 1 : -1))
  const needs = found.slice(0, limit)
  const token = nextToken(needs, found.length > limit, ({ at }) => positionToken(at))
  return { needs: needs.map(({ need }) => need), nextPageToken: token }
}

/** Returns the need with an id, also if it is beyond the share of its group. */
export async function findNeed(db: Reader, groups: readonly NeedGroup[], id: string): Promise<NeedFields | undefined> {
  const isMeant = (need: NeedFields): boolean => needIdOf(need) === id
  const listed = groups.flatMap(({ needs }) => needs).find(isMeant)
  if (listed) return listed
  const [ref = ''] = id.split('@')
  const task = await findTask(db, ref)
  const isAlike = ({ needs: [one] }: NeedGroup): boolean =>
    (one?.messageId !== undefined) === id.startsWith('MESSAGE:') && (one?.taskId !== undefined) === (task !== undefined)
  // The beginning of its id is the place just before it.
  const before = { createdAt: task?.statusAt ?? 0, id: ref.slice(0, -1) }
  for (const group of groups.filter((one) => one.total > one.needs.length && isAlike(one))) {
    const found = (await group.page(before, 1)).find(isMeant)
    if (found) return found
  }
  return undefined
}

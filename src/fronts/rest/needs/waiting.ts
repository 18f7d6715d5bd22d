import { type NeedKind, needIdOf } from '../../../needs/need.ts'
import type { Caller } from '../../../registry/callers/caller.ts'
import type { Reader } from '../../../storage/database.ts'
import type { Position } from '../page.ts'
import type { NeedFields } from './view.ts'

/** For whom needs are read: the operator of a project, or one agent. */
export interface NeedReader {
  readonly db: Reader
  readonly caller: Caller
  readonly now: number
}

/** The most agents whose gate has tripped, or who are parked or capped, and the most approvals: each is one need. */
export const agentsMax = 10_000
export const textMax = 2_000

/** The most that is counted of each owner and kind. */
export const countedMax = 1_000

/** Something that waits for a person, before its texts are read. */
export interface WaitingNeed extends Position {
  readonly kind: NeedKind
  readonly owner: string
  readonly agent: string | null
  /** How many there are of its owner and kind, `countedMax` + 1 at most. */
  readonly total: number
  readonly load: () => Promise<NeedFields>
}

/** A need whose text is known. */
export function waitingOf(need: NeedFields, owner: string, total: number): WaitingNeed {
  const { kind, agent, since } = need
  return { kind, agent, owner, total, createdAt: Date.parse(since), id: needIdOf(need), load: async () => need }
}

/** Needs of a kind of which an agent has one. */
export const ofOneEach = (needs: readonly NeedFields[]) => needs.map((need) => waitingOf(need, need.agent ?? '', 1))

/** Returns what waits by owner and kind. */
export function groupsOf(all: readonly WaitingNeed[]): WaitingNeed[][] {
  const groups = new Map<string, WaitingNeed[]>()
  for (const one of all) {
    const name = `${one.kind} ${one.owner}`
    const group = groups.get(name)
    if (group) group.push(one)
    else groups.set(name, [one])
  }
  return [...groups.values()]
}

export const isAfter = (one: Position, other: Position): boolean =>
  one.createdAt === other.createdAt ? one.id > other.id : one.createdAt > other.createdAt
export const byPlace = (one: Position, other: Position): number => (isAfter(one, other) ? 1 : -1)

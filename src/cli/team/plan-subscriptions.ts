import { isDeepStrictEqual } from 'node:util'
import type { SubscriptionView } from '../../client/route-types.ts'
import { subscriptionEntry } from './known-entries.ts'
import { type ListOptions, type ListPlan, type MadeSubscription, type Step, untouched } from './steps.ts'
import type { TeamSubscription } from './team.ts'

/**
 * Returns the steps for the subscriptions. They have no names: an entry means the one of the same agent with the same trigger, target,
 * address and filters. With `prune` the list of the file is whole, so an entry with another address or other filters is what became of one
 * that would be removed: that keeps its cursor and its key. Pure.
 */
export function planSubscriptions(
  known: readonly SubscriptionView[],
  wanted: readonly TeamSubscription[] | undefined,
  { prune, resolve }: ListOptions,
): ListPlan<TeamSubscription> {
  if (wanted === undefined) return untouched(known.map(subscriptionEntry))
  const entries = wanted.map(
    (entry): MadeSubscription => ({
      ...entry,
      agentIdentity: resolve(entry.agentIdentity),
      // As the gateway chooses it.
      harnessTarget: entry.harnessTarget ?? (entry.harnessTargetMetadata?.url ? 'a2a-webhook' : 'disabled'),
    }),
  )
  const pairs = pair(entries, known, prune ? [whole, withUrl, withFilters, withTarget] : [whole])
  const indexOf = new Map([...pairs].map(([index, one]) => [one, index]))
  const changed = [...pairs].flatMap(([index, before]): Step[] => {
    const body = changesOf(before, entries[index]!)
    if (Object.keys(body).length === 0) return []
    return [{ act: 'change subscription', name: nameOf(entries[index]!), index, id: before.subscriptionId, body }]
  })
  const made = entries.flatMap((body, index): Step[] =>
    pairs.has(index) ? [] : [{ act: 'make subscription', name: nameOf(body), index, body }],
  )
  const others = known.filter((one) => !indexOf.has(one))
  const removed = others.map(
    (one): Step => ({
      act: 'remove subscription',
      name: nameOf(subscriptionEntry(one)),
      id: one.subscriptionId,
    }),
  )
  return {
    steps: [...changed, ...made, ...(prune ? removed : [])],
    after: [
      ...known.flatMap((one) => {
        const index = indexOf.get(one)
        if (index === undefined) return prune ? [] : [subscriptionEntry(one)]
        return [afterwards(subscriptionEntry(one), entries[index]!)]
      }),
      ...entries.filter((_entry, index) => !pairs.has(index)),
    ],
    kept: prune ? [] : removed.map(({ name }) => `subscription ${name}`),
    unchanged: pairs.size - changed.length,
  }
}

/** By what an entry and a subscription may be taken for the same: the strictest comes first. */
const withTarget = ({ agentIdentity, trigger, harnessTarget }: TeamSubscription): string =>
  JSON.stringify([agentIdentity, trigger, harnessTarget])
const withUrl = (one: TeamSubscription): string =>
  JSON.stringify([withTarget(one), one.harnessTargetMetadata?.url ?? null])
const withFilters = (one: TeamSubscription): string => JSON.stringify([withTarget(one), filtersOf(one)])
const whole = (one: TeamSubscription): string => JSON.stringify([withUrl(one), withFilters(one)])

/** Filters as they match: their lists have no order. */
function filtersOf({ filters = {} }: TeamSubscription): unknown[] {
  const { taggedConcepts, priority, senderFilter, inReplyToFilter } = filters
  const sorted = (list: readonly string[] | undefined) => list && [...list].sort()
  return [sorted(taggedConcepts), priority, sorted(senderFilter), sorted(inReplyToFilter)]
}

/** Pairs the numbers of entries with subscriptions, each with one at most, by the first key under which both are alike. */
function pair(
  entries: readonly MadeSubscription[],
  known: readonly SubscriptionView[],
  keys: readonly ((one: TeamSubscription) => string)[],
): Map<number, SubscriptionView> {
  const pairs = new Map<number, SubscriptionView>()
  const taken = new Set<SubscriptionView>()
  for (const keyOf of keys) {
    const free = new Map<string, SubscriptionView[]>()
    for (const one of known) {
      const key = keyOf(subscriptionEntry(one))
      if (!taken.has(one)) free.set(key, [...(free.get(key) ?? []), one])
    }
    for (const [index, entry] of entries.entries()) {
      const found = pairs.has(index) ? undefined : free.get(keyOf(entry))?.shift()
      if (found === undefined) continue
      pairs.set(index, found)
      taken.add(found)
    }
  }
  return pairs
}

/** The fields that differ. Of the metadata the gateway changes those that are named; filters it replaces. */
function changesOf(before: SubscriptionView, entry: MadeSubscription): Partial<TeamSubscription> {
  const now = new Map<string, unknown>(Object.entries(before.harnessTargetMetadata))
  const metadata = Object.fromEntries(
    Object.entries(entry.harnessTargetMetadata ?? {}).filter(([name, value]) => now.get(name) !== value),
  )
  const isPaused = before.status === 'paused'
  return {
    ...(isDeepStrictEqual(filtersOf(subscriptionEntry(before)), filtersOf(entry))
      ? {}
      : { filters: entry.filters ?? {} }),
    ...(Object.keys(metadata).length === 0 ? {} : { harnessTargetMetadata: metadata }),
    ...(entry.status === undefined || (entry.status === 'paused') === isPaused ? {} : { status: entry.status }),
  }
}

function afterwards(before: TeamSubscription, entry: MadeSubscription): TeamSubscription {
  const { status: was, filters: _before, ...rest } = before
  const status = entry.status ?? was
  return {
    ...rest,
    ...(entry.filters && Object.keys(entry.filters).length > 0 ? { filters: entry.filters } : {}),
    harnessTargetMetadata: { ...before.harnessTargetMetadata, ...entry.harnessTargetMetadata },
    ...(status === 'paused' ? { status } : {}),
  }
}

const nameOf = ({ agentIdentity, trigger, harnessTarget, harnessTargetMetadata }: TeamSubscription): string =>
  [agentIdentity, trigger, harnessTarget, harnessTargetMetadata?.url].filter(Boolean).join(' ')

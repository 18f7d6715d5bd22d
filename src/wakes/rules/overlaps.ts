import type { Filters, WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { beginsTurns } from '../../words/targets.ts'

type Route = Pick<WakeSubscription, 'id' | 'agentId' | 'trigger' | 'filters' | 'harnessTarget' | 'status'>

const startsTurns = ({ harnessTarget, status }: Route): boolean => status !== 'paused' && beginsTurns(harnessTarget)

/** Returns the ids of the other subscriptions of the same agent that give the same mail a second turn. Pure. */
export function overlapsOf(one: Route, others: readonly Route[]): string[] {
  if (!startsTurns(one)) return []
  const isOther = (other: Route): boolean =>
    other.id !== one.id && other.agentId === one.agentId && other.trigger === one.trigger
  return others
    .filter((other) => isOther(other) && startsTurns(other) && meet(one.filters, other.filters))
    .map(({ id }) => id)
}

/** True unless some filter of both leaves the one nothing that the other takes. */
function meet(one: Filters, other: Filters): boolean {
  if (one.priority !== undefined && other.priority !== undefined && one.priority !== other.priority) return false
  const lists = ['senderFilter', 'inReplyToFilter'] as const
  return lists.every((name) => {
    const [mine = [], theirs = []] = [one[name], other[name]]
    return mine.length === 0 || theirs.length === 0 || mine.some((entry) => theirs.includes(entry))
  })
}

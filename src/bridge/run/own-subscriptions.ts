import { Refused } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Trigger } from '../../words/events.ts'
import { retryForOfPrograms } from '../../words/targets.ts'
import type { Journal } from '../journal/journal.ts'

/**
 * The subscriptions that the bridge reads for an agent, one for each trigger: those that it has made before, according to the journal, or
 * new ones. Subscriptions of other readers are not touched. Errors: `Refused`, `Unreachable`.
 */
export async function ownSubscriptions(
  gateway: GatewayClient,
  journal: Journal,
  agent: string,
  triggers: readonly Trigger[],
): Promise<string[]> {
  const made = journal.subscriptionsOf(agent)
  const ids: string[] = []
  for (const trigger of triggers) {
    const known = made.get(trigger)
    const id = (known && (await stillThere(gateway, known))) ?? (await subscribe(gateway, trigger))
    if (id !== known) journal.saveSubscription(agent, trigger, id)
    ids.push(id)
  }
  return ids
}

/** Marks what the bridge has made: `rouse listen` leaves it alone. Source: S1-43. */
const reader = 'rouse bridge'
/** The first event is sent at once. Events within this time after it, and all events while a wake is held, become one digest. */
const windowSeconds = 2

/** undefined: it was removed, or its wakes go to another reader. One that was paused is active again: its reader has come. */
async function stillThere(gateway: GatewayClient, id: string): Promise<string | undefined> {
  try {
    const found = await gateway.call('GET /v1/wake-subscriptions/:id', { params: { id }, mail: 'none' })
    const { harnessTarget, harnessTargetMetadata: known, status } = found
    if (harnessTarget !== 'bridge-daemon' || (known.reader ?? reader) !== reader) return undefined
    const isOlder = known.reader === undefined || known.retryForSeconds === undefined
    const body = {
      ...(isOlder ? { harnessTargetMetadata: { retryForSeconds: retryForOfPrograms, ...known, reader } } : {}),
      ...(status === 'paused' ? { status: 'active' as const } : {}),
    }
    if (Object.keys(body).length > 0) {
      await gateway.call('PATCH /v1/wake-subscriptions/:id', { params: { id }, body, mail: 'none' })
    }
    return id
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

async function subscribe(gateway: GatewayClient, trigger: Trigger): Promise<string> {
  const metadata = { coalesceWindow: windowSeconds, reader, retryForSeconds: retryForOfPrograms }
  const body = { trigger, harnessTarget: 'bridge-daemon' as const, harnessTargetMetadata: metadata }
  return (await gateway.call('POST /v1/wake-subscriptions', { body, mail: 'none' })).subscriptionId
}

/** True when a refusal says that there is no such subscription. */
export function isGone(error: unknown): boolean {
  return error instanceof Refused && error.problem.code === 'subscription-not-found'
}

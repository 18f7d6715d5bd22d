import type { SilenceJudge } from '../../lib/own-clock.ts'
import type { Sweep } from '../../lib/sweeper.ts'
import type { Core } from '../../log/core.ts'
import { gatewayIdentity } from '../../registry/agents/identity.ts'
import type { Caller } from '../../registry/callers/caller.ts'
import { listExpired, lockMcpSubscription } from '../../registry/subscriptions/mcp-store.ts'
import type { WakeSubscription } from '../../registry/subscriptions/subscription.ts'
import { deleteSubscriptions } from '../../registry/subscriptions/subscription-store.ts'
import type { McpEventChoice } from '../../words/mcp-events.ts'
import type { SubscriptionContext } from '../context.ts'
import { subscriptionEvent } from '../subscription-event.ts'
import { mcpSubscriptionId } from './choice.ts'

/** Ends a subscription to events, with what is still tried for it. One that there is not has ended already. Source: events/unsubscribe. */
export async function unsubscribeFromEvents(
  context: SubscriptionContext,
  caller: Caller,
  { choice, url }: { readonly choice: McpEventChoice; readonly url: string },
): Promise<void> {
  const mcpId = mcpSubscriptionId(caller, url, choice)
  const ended = await context.db.transaction(async (tx) => {
    const subscription = await lockMcpSubscription(tx, mcpId)
    if (subscription === undefined) return undefined
    await deleteSubscriptions(tx, [subscription.id])
    await context.append(tx, subscription.projectId, [
      subscriptionEvent('subscription.removed', caller, subscription, {}),
    ])
    return subscription.id
  })
  if (ended !== undefined) context.changed(ended)
}

interface LapseContext extends Core, SilenceJudge {
  readonly changed: (subscriptionId: string) => void
}

const everyMs = 10_000
const atOnce = 200
const gateway = { id: gatewayIdentity, identity: gatewayIdentity }

/** Removes the subscriptions to events that their clients have not refreshed in time. Their clients know the time, so nobody is notified. */
export function lapseSweep(context: LapseContext): Sweep {
  const { db, clock, log, silenceUntil } = context
  return {
    name: 'lapsed_subscriptions',
    everyMs,
    async run() {
      const due = await listExpired(db, silenceUntil(clock.now()), atOnce)
      if (due.length === 0) return false
      const lapsed = await db.transaction(async (tx) => {
        const found = await listExpired(tx, silenceUntil(tx.now), atOnce)
        await deleteSubscriptions(
          tx,
          found.map(({ id }) => id),
        )
        for (const [projectId, events] of byProject(found)) await context.append(tx, projectId, events)
        return found
      })
      for (const { id } of lapsed) context.changed(id)
      log.info({ subscriptions: lapsed.length }, 'subscriptions.lapsed')
      return due.length === atOnce
    },
  }
}

function byProject(lapsed: readonly WakeSubscription[]): Map<string, ReturnType<typeof subscriptionEvent>[]> {
  const events = new Map<string, ReturnType<typeof subscriptionEvent>[]>()
  for (const one of lapsed) {
    const event = subscriptionEvent('subscription.removed', gateway, one, { reason: 'lapsed' })
    events.set(one.projectId, [...(events.get(one.projectId) ?? []), event])
  }
  return events
}

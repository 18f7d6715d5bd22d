import { isHidden } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { FollowerView, SubscriptionView, TaskSummaryView } from '../../client/route-types.ts'
import { readPages } from './read-pages.ts'

const subscriptionPagesMax = 5
const followerPagesMax = 4
/** The most that `readableSubscriptions` reads: pages of 500. */
export const subscriptionsMax = subscriptionPagesMax * 500

/** The subscriptions that the key may read: an agent's own, an operator's all. */
export const readableSubscriptions = (gateway: GatewayClient): Promise<SubscriptionView[]> =>
  readable(
    readPages(
      (pageToken) => gateway.call('GET /v1/wake-subscriptions', { query: { pageToken } }),
      (page) => page.subscriptions,
      subscriptionPagesMax,
    ),
  )

/** The tasks in a state, as far as the key may read them, the newest first. `originator`: only those that the caller has started. */
export const readableTasks = (
  gateway: GatewayClient,
  state: TaskSummaryView['state'],
  { role, pagesMax = 2 }: { role?: 'originator'; pagesMax?: number } = {},
): Promise<TaskSummaryView[]> =>
  readable(
    readPages(
      (pageToken) =>
        gateway.call('GET /v1/tasks', { query: { state, role, pageSize: 100, historyLength: 1, pageToken } }),
      (page) => page.tasks,
      pagesMax,
    ),
  )

/** The followers of MCP tasks that the key may read: an agent's own, an operator's all. */
export const readableFollowers = (gateway: GatewayClient): Promise<FollowerView[]> =>
  readable(
    readPages(
      (pageToken) => gateway.call('GET /v1/followers', { query: { limit: 500, pageToken } }),
      (page) => page.followers,
      followerPagesMax,
    ),
  )

/** Empty where the key may not read the list. Rejects where the gateway cannot: that is no empty list. */
export async function readable<Item>(list: Promise<Item[]>): Promise<Item[]> {
  try {
    return await list
  } catch (error) {
    if (isHidden(error)) return []
    throw error
  }
}

import { UsageError } from '../../client/failure.ts'
import type { GatewayClient } from '../../client/gateway-client.ts'
import type { Trigger } from '../../words/events.ts'

/** Ctrl-C must not hang on a gateway that is gone. */
const removeTimeoutMs = 5_000

export interface OwnSubscription {
  subscriptionId: string
  signingKey: string
}

interface SubscribeOptions {
  triggers: readonly Trigger[]
  url: string
  agent?: string
  windowSeconds: number
}

/** Subscribes this receiver to each trigger. After a failure it removes what it has made. */
export async function addOwnSubscriptions(
  gateway: GatewayClient,
  { triggers, url, agent, windowSeconds }: SubscribeOptions,
): Promise<OwnSubscription[]> {
  const added: OwnSubscription[] = []
  try {
    for (const trigger of triggers) {
      const body = {
        trigger,
        agentIdentity: agent,
        harnessTarget: 'a2a-webhook' as const,
        harnessTargetMetadata: { url, coalesceWindow: windowSeconds },
      }
      const { subscriptionId, signingKey = '' } = await gateway.call('POST /v1/wake-subscriptions', { body })
      added.push({ subscriptionId, signingKey })
      if (signingKey === '')
        throw new UsageError(`Only ${agent} gets the signing key: use the key of ${agent}, or the operator's.`)
    }
    return added
  } catch (error) {
    await removeOwnSubscriptions(gateway, added)
    throw error
  }
}

/** Returns the ids that could not be removed. Runs after Ctrl-C too, so it does not listen to that signal. */
export async function removeOwnSubscriptions(
  gateway: GatewayClient,
  subscriptions: readonly OwnSubscription[],
): Promise<string[]> {
  const left: string[] = []
  for (const { subscriptionId } of subscriptions) {
    try {
      await gateway.call('DELETE /v1/wake-subscriptions/:id', {
        params: { id: subscriptionId },
        signal: new AbortController().signal,
        timeoutMs: removeTimeoutMs,
      })
    } catch {
      left.push(subscriptionId)
    }
  }
  return left
}

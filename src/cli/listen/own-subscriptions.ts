import type { Trigger } from '../../log/event.ts'
import { type GatewayClient, pathOf } from '../gateway-client.ts'

/** Stopping must not hang on a gateway that is gone. */
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

/** Subscribes this receiver to each trigger; what it registered before a failure is removed again. */
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
        harnessTarget: 'a2a-webhook',
        harnessTargetMetadata: { url, coalesceWindow: windowSeconds },
      }
      added.push(await gateway.call<OwnSubscription>('POST', '/v1/wake-subscriptions', { body }))
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
      const path = pathOf('/v1/wake-subscriptions', subscriptionId)
      await gateway.call('DELETE', path, { signal: new AbortController().signal, timeoutMs: removeTimeoutMs })
    } catch {
      left.push(subscriptionId)
    }
  }
  return left
}

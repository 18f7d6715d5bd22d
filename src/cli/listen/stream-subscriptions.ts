import type { GatewayClient } from '../../client/gateway-client.ts'
import type { RestApi } from '../../client/route-types.ts'
import type { Wake } from '../../client/wakes/wake.ts'
import type { Trigger } from '../../words/events.ts'
import { readPages } from '../run/read-pages.ts'

type Subscription = RestApi['GET /v1/wake-subscriptions/:id']['answer']

export interface StreamSubscriptionOptions {
  readonly triggers: readonly Trigger[]
  /** The agent that is woken, with the operator's key. */
  readonly agent?: string | undefined
  readonly windowSeconds: number
  readonly concurrency: number
  readonly retryForSeconds: number
}

/** A subscription to read, and whether it was there before. */
interface StreamSubscription {
  readonly id: string
  readonly trigger: Trigger
  readonly isNew: boolean
}

/**
 * Returns a subscription for each trigger: one that an earlier `rouse listen` of this agent has left, with the events that gathered since,
 * or a new one.
 */
export async function streamSubscriptions(
  gateway: GatewayClient,
  options: StreamSubscriptionOptions,
): Promise<StreamSubscription[]> {
  const found: StreamSubscription[] = []
  const left = await ownStreams(gateway, options.agent)
  for (const trigger of options.triggers) {
    const known = left.find((one) => one.trigger === trigger)
    if (known) await adjust(gateway, known, options)
    const id = known?.subscriptionId ?? (await subscribe(gateway, trigger, options))
    found.push({ id, trigger, isNew: !known })
  }
  return found
}

/** The subscriptions of the agent that are read as a stream, by no other program, and have no filters: `rouse sub add` makes those that have some. */
async function ownStreams(gateway: GatewayClient, agent: string | undefined): Promise<Subscription[]> {
  const read = (pageToken: string | undefined) =>
    gateway.call('GET /v1/wake-subscriptions', { query: { agent, pageToken } })
  const all = await readPages(read, ({ subscriptions }) => subscriptions)
  return all.filter(
    ({ harnessTarget, harnessTargetMetadata: { reader }, filters }) =>
      harnessTarget === 'bridge-daemon' && reader === undefined && Object.keys(filters).length === 0,
  )
}

async function subscribe(
  gateway: GatewayClient,
  trigger: Trigger,
  options: StreamSubscriptionOptions,
): Promise<string> {
  const body = {
    trigger,
    agentIdentity: options.agent,
    harnessTarget: 'bridge-daemon' as const,
    harnessTargetMetadata: metadataOf(options),
  }
  return (await gateway.call('POST /v1/wake-subscriptions', { body })).subscriptionId
}

/** An earlier run may have had other options, or the subscription was paused. */
async function adjust(
  gateway: GatewayClient,
  { subscriptionId: id, status, harnessTargetMetadata: known }: Subscription,
  options: StreamSubscriptionOptions,
): Promise<void> {
  const wanted = metadataOf(options)
  const isOther =
    known.coalesceWindow !== wanted.coalesceWindow ||
    (known.maxInFlight ?? 1) !== wanted.maxInFlight ||
    known.retryForSeconds !== wanted.retryForSeconds
  if (!isOther && status !== 'paused') return
  const body = {
    ...(isOther ? { harnessTargetMetadata: wanted } : {}),
    ...(status === 'paused' ? { status: 'active' as const } : {}),
  }
  await gateway.call('PATCH /v1/wake-subscriptions/:id', { params: { id }, body })
}

function metadataOf({ windowSeconds, concurrency, retryForSeconds }: StreamSubscriptionOptions) {
  return { coalesceWindow: windowSeconds, maxInFlight: concurrency, retryForSeconds }
}

/** Removes subscriptions after Ctrl-C, so it does not listen to that signal. Returns the ids that could not be removed. */
export async function removeStreams(gateway: GatewayClient, ids: readonly string[]): Promise<string[]> {
  const left: string[] = []
  for (const id of ids) {
    const transport = { signal: new AbortController().signal, timeoutMs: 5_000 }
    await gateway.call('DELETE /v1/wake-subscriptions/:id', { params: { id }, ...transport }).catch(() => left.push(id))
  }
  return left
}

/** Has the gateway send a wake again that was set aside here: to the next reader. Errors: of the gateway. */
export async function giveBack(gateway: GatewayClient, { subscriptionId, logId }: Wake): Promise<void> {
  if (subscriptionId === undefined || typeof logId !== 'number') return
  const transport = { signal: new AbortController().signal, timeoutMs: 5_000 }
  const body = { fromLogId: logId, toLogId: logId }
  await gateway.call('POST /v1/wake-subscriptions/:id/replay', { params: { id: subscriptionId }, body, ...transport })
}

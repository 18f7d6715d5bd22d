import { BackOff } from '../../lib/back-off.ts'
import { isJsonObject } from '../../lib/json.ts'
import { readEventStream, type StreamEvent } from '../event-stream.ts'
import { Refused, Unreachable } from '../failure.ts'
import type { GatewayClient } from '../gateway-client.ts'
import { parseWake, type Wake } from './wake.ts'

const reconnectMs = { first: 1_000, max: 30_000 } as const

/** The items of a stream of wakes. */
export type StreamItem =
  | { readonly kind: 'connected' }
  | { readonly kind: 'wake'; readonly wake: Wake }
  /** The subscription is no longer read here. */
  | { readonly kind: 'released'; readonly subscriptionId: string; readonly reason: string }

interface StreamOptions {
  readonly subscriptionIds: readonly string[]
  /** The capabilities of the reader for a wake. Source: D34. */
  readonly capabilities: readonly string[]
  readonly signal: AbortSignal | undefined
  readonly note: (text: string) => void
}

/**
 * The wakes of subscriptions, until all of them were released. A broken connection is opened again. Errors: of a gateway that was
 * never reached, or that refuses.
 */
export async function* streamedWakes(
  gateway: GatewayClient,
  { subscriptionIds, capabilities, signal, note }: StreamOptions,
): AsyncGenerator<StreamItem, void, undefined> {
  const left = new Set(subscriptionIds)
  const backOff = new BackOff(reconnectMs)
  let wasConnected = false
  let isNoted = false
  while (!signal?.aborted && left.size > 0) {
    try {
      const response = await gateway.open(pathOf([...left], capabilities), { headers: { accept: 'text/event-stream' } })
      wasConnected = true
      isNoted = false
      backOff.reset()
      yield { kind: 'connected' }
      for await (const event of readEventStream(response.body)) {
        const item = itemOf(event)
        if (item?.kind === 'released') left.delete(item.subscriptionId)
        if (item) yield item
      }
    } catch (error) {
      if (signal?.aborted) throw error
      if (!wasConnected || !mayPass(error)) throw error
    }
    if (signal?.aborted || left.size === 0) break
    if (!isNoted) note('The stream of wakes ended; connecting again …')
    isNoted = true
    await backOff.pause(signal)
  }
  signal?.throwIfAborted()
}

function pathOf(subscriptionIds: readonly string[], capabilities: readonly string[]): string {
  const query = new URLSearchParams(subscriptionIds.map((id): [string, string] => ['subscription', id]))
  for (const capability of capabilities) query.append('capabilities', capability)
  return `/v1/wake-stream?${query}`
}

function itemOf({ event, data, traceparent }: StreamEvent): StreamItem | undefined {
  if (event === 'wake') {
    const wake = parseWake(Buffer.from(data), traceparent)
    return wake && { kind: 'wake', wake }
  }
  if (event !== 'released') return undefined
  const { subscriptionId, reason } = parsed(data)
  return { kind: 'released', subscriptionId: String(subscriptionId), reason: String(reason) }
}

function parsed(data: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(data)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** True when a failure may pass: a gateway that restarts, or a network that is away. */
export function mayPass(error: unknown): boolean {
  if (error instanceof Unreachable) return true
  // A connection that breaks while it is read.
  if (!(error instanceof Refused)) return true
  const status = Number(error.problem.status ?? 0)
  return status === 429 || status >= 500
}

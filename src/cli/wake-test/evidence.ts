import type { DeliveryView, HeldView, RecipientView, SubscriptionView, WakeStepView } from '../../client/route-types.ts'
import type { Receipt } from '../../words/mail.ts'
import { isArrival, type ReceiptStep } from '../../words/receipts.ts'
import type { HarnessTarget } from '../../words/targets.ts'

/** The known facts of one subscription's part in a test. */
export interface SubscriptionFacts {
  readonly subscription: Pick<SubscriptionView, 'subscriptionId' | 'harnessTarget' | 'status' | 'reason'>
  /** Its records since the test was sent. */
  readonly deliveries: readonly Pick<DeliveryView, 'outcome' | 'attempts' | 'updatedAt' | 'step' | 'steps'>[]
  readonly held: Pick<HeldView, 'action' | 'reason'> | undefined
}

/** The proof of one route. `step`: the strongest; null: nothing. Never more than the channel knows. Source: D11. */
export interface RouteEvidence {
  readonly route: 'webhook' | 'stream' | 'mcp' | 'none'
  readonly subscriptionId: string
  readonly step: ReceiptStep | null
  /** The source of the proof, and its time (ISO 8601), where the reader of a stream has named them. */
  readonly source?: string | null
  readonly at?: string
  /** From the sending of the message. */
  readonly afterMs: number | null
  /** Why it is not more. */
  readonly detail: string
}

/** The proof of the message itself, whatever route brought it. */
export interface MessageEvidence {
  readonly receipt: Receipt
  readonly afterMs: number | null
  /** `push`: a subscription; `piggyback`: the answer to a call; `startup_drain`: the start of a session; `inbox`: it read its inbox. */
  readonly deliveryMethod: RecipientView['deliveryMethod']
  /** The words of the reader of a stream about the newest wake for it. */
  readonly wake?: RecipientView['wake']
}

const routes: Readonly<Record<HarnessTarget, RouteEvidence['route']>> = {
  'a2a-webhook': 'webhook',
  'bridge-daemon': 'stream',
  'mcp-notifications': 'mcp',
  'mcp-webhook': 'webhook',
  disabled: 'none',
  none: 'none',
}

/** Pure. `sentAt`: ISO 8601. */
export function routeEvidence(tried: SubscriptionFacts, sentAt: string): RouteEvidence {
  const { subscriptionId, harnessTarget, status, reason } = tried.subscription
  const route = routes[harnessTarget]
  const about = { route, subscriptionId } as const
  const said = route === 'stream' ? strongestSaid(tried.deliveries) : undefined
  if (said) {
    const { step, source, at, detail = '' } = said
    return { ...about, step, source, at, afterMs: between(sentAt, at), detail }
  }
  const delivered = tried.deliveries.find(({ outcome }) => outcome === 'delivered')
  if (delivered) {
    // A webhook and a notification prove that bytes arrived. The reader of a stream reports that its harness has them.
    const step = route === 'stream' ? 'delivered' : 'written'
    return { ...about, step, afterMs: between(sentAt, delivered.updatedAt), detail: attemptOf(delivered) }
  }
  const nothing = { ...about, step: null, afterMs: null }
  const isStopped = status !== 'active'
  if (tried.held && !isStopped) return { ...nothing, detail: `held: ${tried.held.reason}` }
  const last = tried.deliveries[0]
  if (last) return { ...nothing, detail: [last.outcome, attemptOf(last)].filter(Boolean).join(': ') }
  return { ...nothing, detail: isStopped ? `${status}${reason ? `: ${reason}` : ''}` : 'nothing was sent' }
}

/** Returns the strongest step that the reader of a stream has reported for the newest wake, if there is one. Pure. */
function strongestSaid(deliveries: SubscriptionFacts['deliveries']): WakeStepView | undefined {
  const newest = deliveries.find(({ steps }) => steps !== undefined)
  return newest?.steps?.findLast(({ step }) => step === newest.step) ?? newest?.steps?.at(-1)
}

/** Pure. */
export function messageEvidence(recipient: RecipientView, sentAt: string): MessageEvidence {
  const { receipt, deliveryMethod, deliveredAt, seenAt, ackedAt, resolvedAt, wake } = recipient
  const instants: Partial<Record<Receipt, string | null>> = {
    written: deliveredAt,
    turn_started: wake?.at ?? deliveredAt,
    seen: seenAt,
    acked: ackedAt,
    resolved: resolvedAt,
  }
  const at = instants[receipt] ?? null
  const afterMs = at === null ? null : between(sentAt, at)
  return { receipt, deliveryMethod, afterMs, ...(wake ? { wake } : {}) }
}

/** True when anything has reached the agent, by whatever route. Pure. */
export function isReached(message: MessageEvidence, routes: readonly RouteEvidence[] | null): boolean {
  return isArrival(message.receipt) || (routes ?? []).some(({ step }) => isArrival(step))
}

/** True when more can be proved: the agent itself has not reported anything yet. Pure. */
export function isOpen({ receipt }: MessageEvidence): boolean {
  return receipt !== 'acked' && receipt !== 'resolved'
}

function attemptOf({ attempts }: SubscriptionFacts['deliveries'][number]): string {
  const last = attempts.at(-1)
  if (!last) return ''
  return last.error ?? (last.status === null ? '' : `HTTP ${last.status}`)
}

function between(from: string, to: string): number {
  return Math.max(0, Date.parse(to) - Date.parse(from))
}

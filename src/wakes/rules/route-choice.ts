import type { HarnessTarget } from '../../registry/subscriptions/targets.ts'
import { type ReceiptStep, receiptSteps } from './receipts.ts'

/** One way to wake a harness, and the most that it has proved. */
export interface RouteRecord {
  readonly subscriptionId: string
  readonly harnessTarget: HarnessTarget
  /** Whether something can be sent on it now. */
  readonly isOpen: boolean
  /** The strongest step that a wake on it has reached; null: none yet. */
  readonly proved: ReceiptStep | null
}

/** From this step on the harness has acted: the wake is proven. */
const proof: ReceiptStep = 'turn_started'

/**
 * In the order of preference. A notification comes first where it has woken the harness, and last where nothing says that it has: a
 * weaker route is never taken for a stronger one. Source: S1-4, S1-7, D14.
 */
const preferences: readonly ((route: RouteRecord) => boolean)[] = [
  ({ harnessTarget, proved }) => harnessTarget === 'mcp-notifications' && isProof(proved),
  ({ harnessTarget }) => harnessTarget === 'a2a-webhook',
  ({ harnessTarget }) => harnessTarget === 'bridge-daemon',
  ({ harnessTarget }) => harnessTarget === 'mcp-notifications',
]

/** Returns the route that a wake is expected to come by; undefined: none is open, and the mailbox is read in time. Pure. */
export function chooseRoute<Route extends RouteRecord>(routes: readonly Route[]): Route | undefined {
  const open = routes.filter(({ isOpen }) => isOpen)
  for (const fits of preferences) {
    const found = open.find(fits)
    if (found) return found
  }
  return undefined
}

/** Whether a step says that the harness has acted on the wake. Pure. */
export function isProof(step: ReceiptStep | null): boolean {
  return step !== null && isStrength(step) && receiptSteps.indexOf(step) >= receiptSteps.indexOf(proof)
}

/** Returns the strongest step of several deliveries. What was refused or has failed proves nothing. Pure. */
export function strongestStep(
  deliveries: readonly { readonly outcome: string; readonly step: ReceiptStep | null }[],
): ReceiptStep | null {
  let best: ReceiptStep | null = null
  for (const { outcome, step } of deliveries) {
    const arrived = outcome === 'delivered' || outcome === 'written' ? outcome : null
    for (const one of [arrived, step] as const) {
      if (one !== null && isStrength(one) && (best === null || receiptSteps.indexOf(one) > receiptSteps.indexOf(best)))
        best = one
    }
  }
  return best
}

/** The steps after this one are ends, not strengths. */
const strongest: ReceiptStep = 'resolved'
const isStrength = (step: ReceiptStep): boolean => receiptSteps.indexOf(step) <= receiptSteps.indexOf(strongest)

import type { Trigger } from '../../words/events.ts'
import { type ReceiptStep, receiptSteps } from '../../words/receipts.ts'
import type { HarnessTarget } from '../../words/targets.ts'

/** One way to wake a harness, and the most that it has proved. */
export interface RouteRecord {
  readonly subscriptionId: string
  readonly trigger: Trigger
  readonly harnessTarget: HarnessTarget
  /** True when something can be sent on it now. */
  readonly isOpen: boolean
  /** The strongest step that a wake on it has reached; null: none yet. */
  readonly proved: ReceiptStep | null
}

/** From this step on the harness has acted: the wake is proven. */
const proof: ReceiptStep = 'turn_started'

/** The lowest is preferred; null: never chosen. */
const preferences: Readonly<Record<HarnessTarget, number | null>> = {
  'a2a-webhook': 1,
  'bridge-daemon': 2,
  'mcp-notifications': 3,
  // It gets the events that it has chosen, and no others.
  'mcp-webhook': null,
  disabled: null,
  none: null,
}

/**
 * A notification comes first where it has woken the harness, and last where nothing proves that it has: a weaker route is never taken for
 * a stronger one. Source: S1-4, S1-7, D14.
 */
function preferenceOf({ harnessTarget, proved }: RouteRecord): number {
  const isProven = harnessTarget === 'mcp-notifications' && isProof(proved)
  return isProven ? 0 : (preferences[harnessTarget] ?? Number.POSITIVE_INFINITY)
}

/** Returns the route that a wake is expected to come by; undefined: none is open, and the mailbox is read in time. Pure. */
export function chooseRoute<Route extends RouteRecord>(routes: readonly Route[]): Route | undefined {
  let chosen: Route | undefined
  for (const route of routes) {
    if (!route.isOpen || preferences[route.harnessTarget] === null) continue
    if (chosen === undefined || preferenceOf(route) < preferenceOf(chosen)) chosen = route
  }
  return chosen
}

/** True when a step proves that the harness has acted on the wake. Pure. */
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

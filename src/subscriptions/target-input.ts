import { Problem } from '../errors.ts'
import type { Caller } from '../registry/callers/caller.ts'
import type { WakeSubscription, WakeTarget } from '../registry/subscriptions/subscription.ts'
import { coalesceWindowDefault, type HarnessTarget, targets } from '../words/targets.ts'
import type { SubscriptionContext } from './context.ts'

/** `harnessTargetMetadata` of S1-43; `coalesceWindow` in seconds, null = the default. */
export interface TargetMetadata {
  url?: string
  coalesceWindow?: number | null
  /** `leading`, the default: the first event of a quiet spell goes at once and opens the window. `window`: it waits for the window. */
  coalesceMode?: 'window' | 'leading'
  daemonSocketPath?: string
  /** The program that reads its stream, so that no other takes the subscription for its own. The gateway makes no use of it. */
  reader?: string
  /** Requests in flight at the same time, 1–64; the cursor follows the oldest. Default 1: one after the other. */
  maxInFlight?: number
  /** Wakes the agent for what it did itself too. Default: no. Source: D17. */
  includeOwn?: boolean
  /** How long the receiver may be away before an event fails, in seconds, at most three days. Default: 1, 2 and 4 s. Source: D31. */
  retryForSeconds?: number
  /** True: the gateway tries the receiver while the subscription is degraded. Default: true. Source: D37. */
  probe?: boolean
}

/** Metadata, and what follows from the key that has set where the subscription goes. */
type Settings = TargetMetadata & Pick<WakeTarget, 'withoutSubjects'>

/** Returns the target of a subscription that names none. Source: S1-4. */
export function defaultTarget({ url }: TargetMetadata): HarnessTarget {
  return url ? 'a2a-webhook' : 'disabled'
}

/** Throws `invalid-request` where metadata lacks what a target needs, and what `checkUrl` throws for a URL. */
export function requireTarget(
  { checkUrl }: Pick<SubscriptionContext, 'checkUrl'>,
  harnessTarget: HarnessTarget,
  metadata: TargetMetadata,
): void {
  if (metadata.url !== undefined) checkUrl(metadata.url, 'harnessTargetMetadata.url')
  const needs = Object.entries(targets[harnessTarget].needs) as [keyof TargetMetadata, string][]
  for (const [name, purpose] of needs) {
    if (metadata[name] !== undefined) continue
    const field = `harnessTargetMetadata.${name}`
    throw new Problem('invalid-request', { field, detail: `${field}: ${harnessTarget} needs ${purpose}.` })
  }
}

/** Returns what metadata defines about the target: the columns of a subscription that hold it. */
export function targetSettings(metadata: Settings): Pick<WakeSubscription, 'target' | 'coalesceMs'> {
  const {
    url,
    coalesceMode,
    daemonSocketPath,
    reader,
    maxInFlight,
    includeOwn,
    retryForSeconds,
    probe,
    withoutSubjects,
    coalesceWindow,
  } = metadata
  const target: WakeTarget = {
    ...(url === undefined ? {} : { url }),
    ...(coalesceMode === undefined ? {} : { coalesceMode }),
    ...(daemonSocketPath === undefined ? {} : { daemonSocketPath }),
    ...(reader === undefined ? {} : { reader }),
    ...(maxInFlight === undefined ? {} : { maxInFlight }),
    ...(includeOwn === undefined ? {} : { includeOwn }),
    ...(retryForSeconds === undefined ? {} : { retryForSeconds }),
    ...(probe === undefined ? {} : { probe }),
    ...(withoutSubjects ? { withoutSubjects } : {}),
  }
  return { target, coalesceMs: Math.round((coalesceWindow ?? coalesceWindowDefault) * 1000) }
}

/** Returns what a subscription may disclose where a caller sends it. Nobody gives what he has not. Source: D46. */
export function subjectsFor({ scopes }: Pick<Caller, 'scopes'>): Pick<WakeTarget, 'withoutSubjects'> {
  return scopes.includes('read') ? {} : { withoutSubjects: true }
}

/** Returns the metadata of a subscription as it is. */
export function metadataOf({ target, coalesceMs }: WakeSubscription): Settings {
  return { ...target, coalesceWindow: coalesceMs / 1000 }
}

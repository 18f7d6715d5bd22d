/** The record that an owner works on a ref. A ref of a project has one owner at a time. Source: S4-7. */
export interface Claim {
  readonly projectId: string
  /** A task, an issue, a commit or a path, as the first claimer wrote it. */
  readonly ref: string
  readonly ownerId: string
  readonly claimedAt: number
  /** The owner's last sign of life, ms since the epoch: it claimed or renewed, or its newest session made a call. */
  readonly lastSeenAt: number
  /** `@donna`; null when the owner was removed. */
  readonly owner: string | null
}

/** A claim is stale when its owner has been silent this long: then any caller of the project may take it over or release it. Source: S4-8. */
export const silenceMs = 6 * 60 * 60 * 1000

/** Returns why a claim is stale; undefined when it is not. Pure. */
export function stalenessOf(claim: Claim, now: number): string | undefined {
  if (claim.owner === null) return 'its owner was removed'
  const silent = now - claim.lastSeenAt
  if (silent < silenceMs) return undefined
  return `${claim.owner} has been silent since ${new Date(claim.lastSeenAt).toISOString()}`
}

/** The step of a caller with a ref that it asks for. */
type ClaimStep =
  | { readonly act: 'take' }
  | { readonly act: 'renew' }
  | { readonly act: 'take_over'; readonly reason: string }
  | { readonly act: 'refuse' }

/** Decides what a caller does with a ref, given its claim. Pure. */
export function nextStep(claim: Claim | undefined, callerId: string, now: number): ClaimStep {
  if (!claim) return { act: 'take' }
  if (claim.ownerId === callerId) return { act: 'renew' }
  const reason = stalenessOf(claim, now)
  return reason === undefined ? { act: 'refuse' } : { act: 'take_over', reason }
}

/** Who works on something: one owner for each ref of a project. Source: S4-7. */
export interface Claim {
  readonly projectId: string
  /** A task, an issue, a commit, a path: as it was given. */
  readonly ref: string
  readonly ownerId: string
  readonly claimedAt: number
  /** The owner's last sign of life: that it works on this, or any call of its newest session. ms since the epoch. */
  readonly lastSeenAt: number
  /** `@donna`; null when the owner was removed. */
  readonly owner: string | null
}

/** After so long a silence of its owner a claim may be taken over or cleared by anybody. Source: S4-8. */
export const silenceMs = 6 * 60 * 60 * 1000

/** Why a claim is stale, if it is. Pure. */
export function stalenessOf(claim: Claim, now: number): string | undefined {
  if (claim.owner === null) return 'its owner was removed'
  const silent = now - claim.lastSeenAt
  if (silent < silenceMs) return undefined
  return `${claim.owner} has been silent since ${new Date(claim.lastSeenAt).toISOString()}`
}

/** What asking for a ref comes to. */
export type ClaimStep =
  | { readonly act: 'take' }
  | { readonly act: 'renew' }
  | { readonly act: 'take_over'; readonly reason: string }
  | { readonly act: 'refuse' }

/** What a caller may do about a ref that is claimed so, or not at all. Pure. */
export function nextStep(claim: Claim | undefined, callerId: string, now: number): ClaimStep {
  if (!claim) return { act: 'take' }
  if (claim.ownerId === callerId) return { act: 'renew' }
  const reason = stalenessOf(claim, now)
  return reason === undefined ? { act: 'refuse' } : { act: 'take_over', reason }
}
